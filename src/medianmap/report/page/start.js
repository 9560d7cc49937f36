// Everything put in its place.
function setUpColorings() {
  colorings.forEach((each, k) => {
    const input = h('input', { type: 'radio', name: 'coloring', value: each.key, checked: k === 0 });
    input.addEventListener('change', () => {
      coloring = each;
      paint();
    });
    byId('colorings').append(h('label', {}, input, each.name));
  });
}

function setUpTheme() {
  const theme = byId('theme');
  const name = () => { theme.textContent = isDark() ? 'Light theme' : 'Dark theme'; };
  theme.hidden = false;
  theme.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    name();
    paint();
  });
  night.addEventListener('change', () => { name(); paint(); });
  const print = (on) => { printing = on; paint(); };
  matchMedia('print').addEventListener('change', (event) => print(event.matches));
  name();
}

setUpHeader();
drawLinks();
setUpView();
setUpColorings();
setUpTheme();
paint();
moveTo(0);
setUpTable();
setUpTraining();
setUpHealth();
setUpSettings();
select(null);
document.documentElement.dataset.ready = 'yes';
