// The legend: a scale with bounds, or classes to choose; what is not chosen is dimmed on the map and in the plane.
const MOST_MATCHES = 12;
const legendOf = byId('legend');
const bare = (text) => text.toLowerCase().trim();

function drawLegend(coloring) {
  const parts = [h('span', { class: 'name' }, coloring.label)];
  if (coloring.quantity) parts.push(...scaleOf(coloring));
  else if (coloring.classes) parts.push(...classesOf(coloring));
  else for (const [name, style] of coloring.keys) parts.push(h('span', { class: 'key' }, swatch(style), named(name)));
  if (coloring.other) parts.push(button(coloring.quantity ? 'As classes' : 'As numbers', () => use(coloring.other), { class: 'link-button', id: 'other-face' }));
  legendOf.replaceChildren(...parts);
}

// Years and other numbers of the data are written without a comma, and whole where the scale is long.
function endOf(coloring, value) {
  if (!coloring.column || Math.abs(value) >= 10000) return told(value);
  return coloring.high - coloring.low >= 20 ? String(Math.round(value)) : String(Number(value.toPrecision(5)));
}

function scaleOf(coloring) {
  const bar = s('svg', { viewBox: '0 0 40 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const share = (t) => (coloring.root ? Math.sqrt(t) : t);
  for (let k = 0; k < 40; k++) bar.append(s('rect', { x: k, y: 0, width: 1.05, height: 1, fill: ramp(share(k / 39)) }));
  const bound = (side, words) => {
    const input = h('input', { type: 'number', step: 'any', id: `bound-${side}`, 'aria-label': `Show neurons ${words} this value`, placeholder: words, value: coloring.bounds[side] });
    input.addEventListener('input', () => { coloring.bounds[side] = number(input.value); paintCells(); });
    return input;
  };
  return [h('span', { class: 'scale' }, ...[coloring.low, bar, coloring.high].map((part) => (part === bar ? bar : endOf(coloring, part)))),
    h('span', { class: 'bounds' }, bound('from', 'from'), bound('to', 'to'))];
}

function classesOf(coloring) {
  const { column, totals, top, bySize, chosen } = coloring;
  const key = (code) => {
    const parts = [swatch(coloring.styleOf(code)), named(column.values[code]), h('span', { class: 'muted' }, whole.format(totals[code]))];
    return button(parts, () => {
      coloring.toggle(code);
      paint();
      [...legendOf.querySelectorAll('.key')].find((each) => each.dataset.code === String(code))?.focus();
    }, { class: 'key', 'data-code': code, 'aria-pressed': String(chosen.has(code)), title: 'Show this class; several can be chosen' });
  };
  const listed = [...top, ...[...chosen].filter((code) => !top.includes(code))];
  const parts = listed.map(key);
  const others = bySize.slice(top.length);
  if (others.length) {
    parts.push(h('span', { class: 'key rest' }, swatch(OTHERS), counted(others.length, 'other class', 'other classes'),
      h('span', { class: 'muted' }, whole.format(others.reduce((sum, code) => sum + totals[code], 0)))));
    const found = h('span', { class: 'matches' });
    const box = h('input', { type: 'search', id: 'find-class', placeholder: 'Find a class', 'aria-label': 'Find a class', autocomplete: 'off', spellcheck: 'false' });
    box.addEventListener('input', () => {
      const wanted = bare(box.value);
      found.replaceChildren(...(wanted ? bySize.filter((code) => bare(column.values[code]).includes(wanted)).slice(0, MOST_MATCHES).map(key) : []));
    });
    parts.push(box, found);
  }
  const points = totals.reduce((sum, n) => sum + n, 0);
  if (points < content.n_points && !content.neurons.every((neuron, j) => !neuron.hits || coloring.rows[j].length)) {
    parts.push(h('span', { class: 'key rest' }, swatch(UNLABELLED), 'not labelled'));
  }
  if (chosen.size) parts.push(button('All classes', () => { coloring.clear(); paint(); }, { class: 'link-button', id: 'all-classes' }));
  return parts;
}
