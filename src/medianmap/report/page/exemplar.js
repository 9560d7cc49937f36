// What an exemplar looks like, by its kind.
const PROTEIN = {
  hydrophobic: ['AVILMC', 'hydrophobic'], aromatic: ['FWY', 'aromatic'], polar: ['STNQ', 'polar'],
  positive: ['KRH', 'positive'], negative: ['DE', 'negative'], special: ['GP', 'G, P'],
};
const DNA = { a: ['A', 'A'], c: ['C', 'C'], g: ['G', 'G'], t: ['TU', 'T, U'] };
const [LINE, BLOCK] = [innerWidth < 480 ? 30 : 40, 10];

function sequence(data) {
  const scheme = content.exemplars.alphabet === 'dna' ? DNA : PROTEIN;
  const tintOf = {};
  for (const [tint, [letters]] of Object.entries(scheme)) for (const letter of letters) tintOf[letter] = tint;
  const rows = [];
  for (let start = 0; start < data.text.length; start += LINE) {
    const row = h('div', { class: 'row' }, h('span', { class: 'place' }, String(start + 1)));
    for (let k = start; k < Math.min(start + LINE, data.text.length); k += BLOCK) {
      row.append(h('span', { class: 'ten' }, runs(data.text.slice(k, Math.min(k + BLOCK, start + LINE)), tintOf)));
    }
    rows.push(row);
  }
  return [
    h('div', { class: 'sequence', tabindex: 0, role: 'group', 'aria-label': 'Sequence' }, rows), cut(data, 'letters'),
    h('div', { class: 'tints' }, Object.entries(scheme).map(([tint, [, name]]) => h('span', { class: `tint-${tint}` }, name))),
  ];
}

// Neighbouring letters of one tint share an element.
function runs(text, tintOf) {
  const parts = [];
  for (let k = 0; k < text.length; ) {
    let end = k + 1;
    while (end < text.length && tintOf[text[end]] === tintOf[text[k]]) end++;
    parts.push(h('i', { class: tintOf[text[k]] ? `tint-${tintOf[text[k]]}` : null }, text.slice(k, end)));
    k = end;
  }
  return parts;
}

const cut = (data, what) =>
  data.text.length < data.length ? h('p', { class: 'small' }, `The first ${whole.format(data.text.length)} of ${whole.format(data.length)} ${what}.`) : null;
const text = (data) => [h('div', { class: 'plain', dir: 'auto' }, data.text), cut(data, 'characters')];

const extent = (values) => {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return high > low ? [low, high] : [low - 1, high + 1];
};
const drawing = (width, height, label, ...children) =>
  s('svg', { class: 'drawing', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, children);
const words = (x, y, anchor, value, attributes = {}) => s('text', { x, y, 'text-anchor': anchor, ...attributes }, value);

// All series on one scale, so that they can be compared.
let rangeOfAll = null;
const seriesRange = () => (rangeOfAll ??= extent(content.exemplars.data.flatMap((each) => extent(each.values))));
function series(data) {
  const [low, high] = seriesRange();
  const y = (value) => rounded(140 - ((value - low) / (high - low)) * 130);
  const step = 340 / Math.max(1, data.values.length - 1);
  const line = data.values.map((value, k) => (value === null ? '' : `${k && data.values[k - 1] !== null ? 'L' : 'M'}${rounded(46 + k * step)} ${y(value)}`));
  return [drawing(400, 164, `Series of ${data.length} values`,
    s('path', { class: 'axis', d: 'M46 6V140H390' }), s('path', { class: 'curve', d: line.join('') }),
    words(40, 14, 'end', told(high)), words(40, 140, 'end', told(low)), words(46, 158, 'start', '1'),
    words(386, 158, 'end', whole.format(data.length)))];
}

function peaks(data) {
  const [left, right] = extent(data.x);
  const high = Math.max(...data.y.filter((value) => value !== null), 1e-300);
  const sticks = data.x.map((x, k) => `M${rounded(46 + ((x - left) / (right - left)) * 340)} 140v${rounded((-130 * (data.y[k] ?? 0)) / high)}`);
  return [drawing(400, 164, `Spectrum of ${data.length} peaks`,
    s('path', { class: 'axis', d: 'M46 6V140H390' }), s('path', { class: 'stick', d: sticks.join('') }),
    words(40, 14, 'end', told(high)), words(40, 140, 'end', '0'), words(46, 158, 'start', told(left)), words(386, 158, 'end', told(right)))];
}

// Each feature on its own scale, the 5% and 95% quantiles of the data at fixed places.
function vector(data) {
  const { features, quantiles } = content.exemplars;
  const shown = data.at ?? features.map((_, k) => k);
  const rows = shown.map((feature, k) => {
    const q = quantiles[feature];
    const y = 12 + 22 * k;
    const name = features[feature].length > 24 ? `${features[feature].slice(0, 23)}…` : features[feature];
    const label = words(128, y + 4, 'end', name, { class: 'named' });
    label.append(s('title', {}, features[feature]));
    const value = words(400, y + 4, 'end', told(data.values[k]));
    if (q[0] === null || data.values[k] === null) return [label, value];
    const span = q[4] - q[0] || 1;
    const x = (v) => rounded(Math.min(Math.max(160 + ((v - q[0]) / span) * 150, 142), 328));
    return [
      label, value,
      s('rect', { class: 'reach', x: x(q[0]), y: y - 6, width: Math.max(2, x(q[4]) - x(q[0])), height: 12, rx: 6 }),
      s('rect', { class: 'half', x: x(q[1]), y: y - 6, width: Math.max(2, x(q[3]) - x(q[1])), height: 12, rx: 3 }),
      s('path', { class: 'median', d: `M${x(q[2])} ${y - 6}v12` }),
      s('circle', { class: 'dot', cx: x(data.values[k]), cy: y, r: 5 }),
    ];
  });
  const which = data.at ? `The ${shown.length} of ${features.length} features that set it apart most. ` : '';
  return [
    drawing(400, 22 * shown.length + 4, 'Profile of the exemplar against the data', ...rows.flat()),
    h('p', { class: 'small' }, `${which}Dot: the exemplar. Bands: the middle 90% and 50% of the data, line: their median.`),
  ];
}

const kinds = { sequence, text, series, peaks, vector };
const drawnExemplar = (j) => (kinds[content.exemplars.kind] ? kinds[content.exemplars.kind](content.exemplars.data[j]) : []);
