// Puts everything on the page.
function setUpColorings() {
  const features = h('select', { id: 'feature', 'aria-label': 'Feature', hidden: true },
    (content.exemplars.features ?? []).map((name, k) => h('option', { value: k }, name)));
  const use = (chosen) => {
    coloring = chosen;
    features.hidden = chosen.key !== 'feature';
    paint();
  };
  colorings.forEach((each, k) => {
    const input = h('input', { type: 'radio', name: 'coloring', value: each.key, checked: k === 0 });
    input.addEventListener('change', () => use(each.key === 'feature' ? plane(Number(features.value)) : each));
    byId('colorings').append(h('label', {}, input, each.name));
  });
  features.addEventListener('change', () => use(plane(Number(features.value))));
  if (hasPlanes) byId('legend').before(features);
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
setUpQuality();
setUpTraining();
setUpHealth();
setUpSettings();
select(null);
document.documentElement.dataset.ready = 'yes';
