// By what the map can be coloured: quantities of neurons, and columns of the points, their labels first.
const across = content.kind === 'lattice' ? 'neurons that touch it' : 'prototypes joined to it';
const valuesOf = (key) => content.neurons.map((neuron) => neuron[key]);
const number = (text) => (text === '' || !Number.isFinite(Number(text)) ? null : Number(text));

// A quantity: values of neurons on one ramp, from `from` to `to` where the reader set bounds; others are dimmed.
function scaled(key, name, label, values, { range = values, root = false } = {}) {
  const known = range.filter((value) => value !== null);
  const [low, high] = known.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], known.length ? [known[0], known[0]] : [0, 0]);
  const share = (value) => {
    const t = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;
    return root ? Math.sqrt(t) : t;
  };
  const bounds = { from: null, to: null };
  const outside = (value) => value === null || value < (bounds.from ?? -Infinity) || value > (bounds.to ?? Infinity);
  const filtered = () => bounds.from !== null || bounds.to !== null;
  return {
    key, name, label, low, high, share, root, bounds, values, quantity: true,
    fill: (j) => (values[j] === null ? null : ramp(share(values[j]))),
    dimmed: (j) => filtered() && outside(values[j]),
    point: (j) => [values[j] === null ? null : ramp(share(values[j])), 'plain', filtered() && outside(values[j])],
  };
}

const hits = () => scaled('hits', 'Hits', 'Number of points at each neuron; colours go with its root', valuesOf('hits').map((n) => n || null), { range: [0, ...valuesOf('hits')], root: true });
const uMatrix = () => {
  // The mean of sides lies between them: cells and the sides between them share one scale.
  const sides = content.kind === 'lattice' ? content.edges.map((edge) => edge[2]) : [];
  return scaled('u', 'U-matrix', `Mean dissimilarity to the ${across}: high values are borders`, valuesOf('u'), { range: [...valuesOf('u'), ...sides] });
};
// Component planes: one feature of the prototypes of vector data.
const plane = (k) => scaled('feature', 'Feature', `Value of ${content.exemplars.features[k]} in each prototype`,
  content.exemplars.data.map((data) => data.values[k]));
const hasPlanes = content.exemplars.kind === 'vector' && !content.exemplars.data[0].at;

// A column of the points as numbers: neurons show the mean; points beyond all means have the colour of the end.
function asNumbers(column, key, codesOf) {
  const missing = column.missing ? `; ${counted(column.missing, 'point')} without a number` : '';
  const coloring = scaled(key, column.name, `Mean ${column.name} of the points at each neuron${missing}`, column.means);
  return {
    ...coloring, column,
    point: (j, k) => {
      const code = codesOf(j)?.[k] ?? -1;
      const value = code < 0 ? null : number(column.values[code]);
      const { from, to } = coloring.bounds;
      return value === null ? [null, 'plain', from !== null || to !== null]
        : [ramp(coloring.share(value)), 'plain', value < (from ?? -Infinity) || value > (to ?? Infinity)];
    },
  };
}

// The same as classes: the largest have styles of their own, the others share one. `chosen` are those that the legend is
// asked for; all others are pale then, so that a chosen small class can borrow a style.
function asClasses(column, key, codesOf) {
  const rows = column.counts.map((flat) => {
    const row = [];
    for (let k = 0; k < flat.length; k += 2) row.push([flat[k], flat[k + 1]]);
    return row;
  });
  const totals = column.values.map(() => 0);
  for (const row of rows) for (const [code, n] of row) totals[code] += n;
  const bySize = totals.map((_, code) => code).sort((a, b) => totals[b] - totals[a] || a - b);
  const top = bySize.slice(0, STYLES).sort((a, b) => a - b);
  const chosen = new Set();
  const styles = new Map();
  function restyle() {
    styles.clear();
    top.forEach((code, k) => styles.set(code, k));
    const free = top.map((_, k) => k).filter((k) => !chosen.has(top[k]));
    for (const code of chosen) if (!styles.has(code)) styles.set(code, free.shift() ?? OTHERS);
  }
  restyle();
  const styleOf = (code) => (chosen.size && !chosen.has(code) ? UNLABELLED : styles.get(code) ?? OTHERS);
  const sums = (j) => {
    const found = new Map();
    for (const [code, n] of rows[j]) found.set(styleOf(code), (found.get(styleOf(code)) ?? 0) + n);
    return [...found].sort((p, q) => p[0] - q[0]);
  };
  return {
    key, name: column.name, column, classes: true, totals, top, bySize, chosen, rows,
    label: `${key === 'labels' ? 'Classes' : column.name} of the points at each neuron, as a pie; ${SIZES}`,
    styleOf: (code) => styles.get(code) ?? OTHERS,
    toggle: (code) => { if (!chosen.delete(code)) chosen.add(code); restyle(); },
    clear: () => { chosen.clear(); restyle(); },
    shares: (j) => {
      const found = sums(j);
      const n = found.reduce((sum, each) => sum + each[1], 0);
      if (!n) return content.neurons[j].hits ? [[UNLABELLED, 1]] : [];
      return found.map(([style, own]) => [style, own / n]);
    },
    fill: (j) => {
      const found = sums(j).filter(([style]) => !chosen.size || style !== UNLABELLED);
      const most = found.reduce((best, each) => (best && best[1] >= each[1] ? best : each), null);
      return most ? content.styles[most[0]][0] : null;
    },
    dimmed: (j) => chosen.size > 0 && !rows[j].some(([code]) => chosen.has(code)),
    point: (j, k) => {
      const code = codesOf(j)?.[k] ?? -1;
      const style = code < 0 ? UNLABELLED : styles.get(code) ?? OTHERS;
      return [content.styles[style][0], patternOf(style), chosen.size > 0 && !chosen.has(code)];
    },
  };
}

// A column of few numbers can be seen as numbers or as classes; `other` is its other face.
function faces(column, key, codesOf) {
  const numbers = column.numeric && asNumbers(column, key, codesOf);
  const classes = column.counts && asClasses(column, key, codesOf);
  if (numbers && classes) [numbers.other, classes.other] = [classes, numbers];
  return column.kind === 'numbers' ? numbers : classes;
}

const labels = content.labels && faces(content.labels, 'labels', (j) => content.members[j].classes);
const metadata = content.columns.map((column, c) => (column.kind === 'text' ? null
  : faces(column, 'metadata', (j) => content.members[j].columns?.[c]))).filter(Boolean);
const superclusters = {
  key: 'group', name: 'Superclusters', label: `Groups of similar exemplars: ${content.groups.why}`,
  fill: (j) => fillOf(content.neurons[j].group % STYLES), dimmed: () => false,
  point: (j) => [content.styles[content.neurons[j].group % STYLES][0], patternOf(content.neurons[j].group % STYLES), false],
  keys: Array.from({ length: content.groups.n }, (_, k) => [`supercluster ${k + 1}`, k % STYLES]),
};
const colorings = [
  labels,
  metadata[0],
  hits(),
  uMatrix(),
  superclusters,
  scaled('quality', 'Quality', 'Mean dissimilarity of the points to their exemplar: low values are tight', valuesOf('quality')),
  content.certainty.mean !== null && scaled('sure', 'How sure', content.certainty.n_resamples
    ? `Mean confidence of the points, the probability to stay here on another sample of the data (${content.certainty.n_resamples} resamples): low values are doubtful`
    : 'Mean margin of the points, 1 − d1 / d2 of the two nearest neurons: low values lie between neurons', valuesOf('sure')),
  hasPlanes && plane(0),
].filter(Boolean);
