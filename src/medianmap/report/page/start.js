// Puts everything on the page.
function use(chosen) {
  coloring = chosen;
  byId('feature').hidden = chosen.key !== 'feature';
  byId('metadata').hidden = chosen.key !== 'metadata' || metadata.length < 2;
  paint();
}
function chooser(id, label, names, choose) {
  const element = h('select', { id, 'aria-label': label, hidden: true }, names.map((name, k) => h('option', { value: k }, name)));
  element.addEventListener('change', () => use(choose(Number(element.value))));
  legendOf.before(element);
  return element;
}

function setUpColorings() {
  const features = chooser('feature', 'Feature', hasPlanes ? content.exemplars.features : [], plane);
  const columns = chooser('metadata', 'Column', metadata.map(({ name }) => name), (k) => metadata[k]);
  const chosen = { feature: () => plane(Number(features.value)), metadata: () => metadata[Number(columns.value)] };
  colorings.forEach((each, k) => {
    const input = h('input', { type: 'radio', name: 'coloring', value: each.key, checked: k === 0 });
    input.addEventListener('change', () => use(chosen[each.key]?.() ?? each));
    byId('colorings').append(h('label', {}, input, each.key === 'metadata' && metadata.length > 1 ? 'Metadata' : each.name));
  });
  use(colorings[0]);
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
setUpSelection();
setUpPictures();
setUpPlane();
setUpColorings();
setUpTheme();
moveTo(0);
setUpTable();
setUpScores();
setUpQuality();
setUpTraining();
setUpHealth();
setUpSettings();
select(null);
document.documentElement.dataset.ready = 'yes';
