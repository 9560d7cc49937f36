// Values to colours: one ramp for quantities, further from the page's background as values grow, in both themes.
const night = matchMedia('(prefers-color-scheme: dark)');
let printing = false;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return !printing && (theme ? theme === 'dark' : night.matches);
}

function ramp(t) {
  const stops = content.ramps[isDark() ? 'dark' : 'light'];
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const [low, high] = [stops[k], stops[k + 1]].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const mixed = low.map((x, c) => Math.round(x + (high[c] - x) * (place - k)));
  return '#' + mixed.map((x) => x.toString(16).padStart(2, '0')).join('');
}

// Black or white, whichever is easier to read on a colour.
function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const x = parseInt(hex.slice(at, at + 2), 16) / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}

function scaled(key, name, label, values, range = values) {
  const known = range.filter((value) => value !== null);
  const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 0];
  const share = (value) => (high > low ? (value - low) / (high - low) : 0);
  return { key, name, label, low, high, share, quantity: true, fill: (j) => (values[j] === null ? null : ramp(share(values[j]))) };
}

const valuesOf = (key) => content.neurons.map((neuron) => neuron[key]);
const hits = () => scaled('hits', 'Hits', 'Number of points at each neuron', valuesOf('hits').map((n) => n || null), [0, ...valuesOf('hits')]);
const uMatrix = () => {
  // The mean of sides lies between them: cells and the sides between them share one scale.
  const sides = content.kind === 'lattice' ? content.edges.map((edge) => edge[2]) : [];
  return scaled('u', 'U-matrix', `Mean dissimilarity to the ${across}: high values are borders`, valuesOf('u'), [...valuesOf('u'), ...sides]);
};
// Component planes: one feature of the prototypes of vector data.
const plane = (k) => scaled('feature', 'Feature', `Value of ${content.exemplars.features[k]} in each prototype`,
  content.exemplars.data.map((data) => data.values[k]));
const hasPlanes = content.exemplars.kind === 'vector' && !content.exemplars.data[0].at;

const across = content.kind === 'lattice' ? 'neurons that touch it' : 'prototypes joined to it';
const colorings = [
  content.classes && {
    key: 'labels', name: 'Labels', label: 'Classes of the points at each neuron; larger pies hold more points',
    fill: (j) => {
      const row = content.classes.shares[j];
      const most = row.indexOf(Math.max(...row));
      return row[most] > 0 ? content.classes.colors[most] : null;
    },
    keys: content.classes.names.map((name, k) => [name, content.classes.colors[k]]),
  },
  hits(),
  uMatrix(),
  {
    key: 'group', name: 'Superclusters', label: 'Groups of similar exemplars (Ward, by hits)',
    fill: (j) => content.groups.colors[content.neurons[j].group],
    keys: content.groups.colors.map((color, k) => [`supercluster ${k + 1}`, color]),
  },
  scaled('quality', 'Quality', 'Mean dissimilarity of the points to their exemplar: low values are tight', valuesOf('quality')),
  content.certainty.mean !== null && scaled('sure', 'How sure', content.certainty.n_resamples
    ? `Mean confidence of the points, the probability to stay here on another sample of the data (${content.certainty.n_resamples} resamples): low values are doubtful`
    : 'Mean margin of the points, 1 − d1 / d2 of the two nearest neurons: low values lie between neurons', valuesOf('sure')),
  hasPlanes && plane(0),
].filter(Boolean);

const swatch = (color) =>
  s('svg', { class: 'swatch', viewBox: '0 0 13 13', 'aria-hidden': 'true' },
    s('rect', { x: 0.5, y: 0.5, width: 12, height: 12, rx: 3, fill: color }));

function drawLegend(coloring) {
  const parts = [h('span', { class: 'name' }, coloring.label)];
  if (coloring.quantity) {
    const bar = s('svg', { viewBox: '0 0 40 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    for (let k = 0; k < 40; k++) bar.append(s('rect', { x: k, y: 0, width: 1.05, height: 1, fill: ramp(k / 39) }));
    parts.push(h('span', { class: 'scale' }, told(coloring.low), bar, told(coloring.high)));
  } else {
    for (const [name, color] of coloring.keys) parts.push(h('span', { class: 'key' }, swatch(color), named(name)));
  }
  byId('legend').replaceChildren(...parts);
}
