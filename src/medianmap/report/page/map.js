// The map: one group per neuron, as options of a list that arrow keys move through.
const lattice = content.lattice;
const geometry = geometryOf(content);
const { K, at, radius, nodeMost, linked } = geometry;
let nodeScale = 1; // when a graph is zoomed in, nodes grow less than it does
const outline = (j, grow = 0) => geometry.outline(j, grow, nodeScale);

// What lies next to each neuron: [neuron, dissimilarity, points between or undefined], nearest first.
const neighbors = content.neurons.map(() => []);
for (const [a, b, d, count] of content.edges) {
  neighbors[a].push([b, d, count]);
  neighbors[b].push([a, d, count]);
}
for (const list of neighbors) list.sort((p, q) => p[1] - q[1] || p[0] - q[0]);

function toldOf(j) {
  const neuron = content.neurons[j];
  const parts = [`neuron ${j}`, counted(neuron.hits, 'point')];
  if (neuron.majority) parts.push(`mostly ${neuron.majority}`);
  if (neuron.exemplar !== null) parts.push(`exemplar ${neuron.exemplar}`);
  return parts.join(', ');
}

const shapeOf = (j) => (lattice ? { d: outline(j) } : { cx: rounded(at[j][0]), cy: rounded(at[j][1]), r: rounded(radius[j]) });
const cells = content.neurons.map((neuron, j) => s(lattice ? 'path' : 'circle', {
  class: 'cell', role: 'option', id: `n${j}`, 'data-neuron': j, 'aria-selected': 'false', 'aria-label': toldOf(j), ...shapeOf(j),
}));
const [links, walls, pies, torn, glimpses, marks, picks, active, chosen] = [
  s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('path', { class: 'over picked' }),
  s('path', { class: 'over active' }), s('path', { class: 'over selected' }),
];
const map = s('svg', {
  tabindex: 0, role: 'listbox', 'aria-multiselectable': 'true', 'aria-describedby': 'hint', class: lattice ? 'grid' : 'graph',
  'aria-label': lattice ? `Map of ${lattice.grid ? lattice.grid.join(' by ') : K} neurons` : `Graph of ${K} prototypes`,
}, patterns(), links, cells, walls, pies, torn, glimpses, geometry.rulers(), marks, picks, chosen, active);

// Edges in a few strengths, one path each: thousands of lines stay fast.
function drawLinks() {
  if (lattice && !linked) return;
  const most = Math.max(...content.edges.map((edge) => edge[3] ?? 1), 1);
  const bins = [1, 2, 3, 4, 5].map(() => []);
  for (const [a, b, , count = 1] of content.edges) {
    bins[Math.min(4, Math.floor(5 * Math.sqrt(count / most)))].push(`M${at[a].map(rounded)}L${at[b].map(rounded)}`);
  }
  bins.forEach((lines, k) => {
    if (lines.length) {
      links.append(s('path', {
        class: 'link', d: lines.join(''), 'stroke-width': rounded((0.15 + 0.2 * k) * Math.min(8, nodeMost * 0.5)),
        'stroke-opacity': 0.35 + 0.12 * k,
      }));
    }
  });
}

// Torn links: the two nearest neurons of some points, which do not touch; the more points, the wider. All of them where
// they are asked for, otherwise those of the chosen neuron.
let allTorn = false;
function drawTorn() {
  if (!content.order?.torn.length) return;
  const most = content.order.torn[0][2];
  const shown = content.order.torn.filter(([a, b]) => allTorn || a === selected || b === selected);
  torn.replaceChildren(...cracks, ...shown.map(([a, b, count]) => s('path', {
    class: 'torn', d: `M${at[a].map(rounded)}L${at[b].map(rounded)}`, 'stroke-width': rounded(2 + 6 * Math.sqrt(count / most)),
  })));
}

// Torn places: neurons where so many points have their second nearest neuron elsewhere are marked with a crack.
const TORN_SHARE = 0.25;
const tornAt = content.neurons.map(() => 0);
for (const [a, b, count] of content.order?.torn ?? []) for (const j of [a, b]) tornAt[j] += count / 2;
const isTorn = (j) => tornAt[j] >= 1 && tornAt[j] >= TORN_SHARE * content.neurons[j].hits;
const crackAt = (x, y) => `M${rounded(x - 12)} ${rounded(y)}l6 -6l5 7l5 -7l5 7l5 -6`;
const cracks = lattice && content.order?.reading !== 'clustering'
  ? content.neurons.flatMap((neuron, j) => (isTorn(j) ? s('path', { class: 'crack', d: crackAt(at[j][0], at[j][1] + 0.42 * STEP), 'data-at': j }) : [])) : [];

let current = 0; // where the arrow keys are
let column = at[0][0]; // going up and down keeps to it
let selected = null;
const onSelect = [];

function reshape(scale) {
  nodeScale = scale;
  cells.forEach((cell, j) => cell.setAttribute('r', rounded(radius[j] * scale)));
  paint();
  moveTo(current);
  if (selected !== null) chosen.setAttribute('d', outline(selected, 2));
  showPicks();
}

function moveTo(j) {
  current = j;
  active.setAttribute('d', outline(j, lattice ? -2 : 4));
  map.setAttribute('aria-activedescendant', `n${j}`);
}

function select(j) {
  selected = j;
  if (j === null) chosen.removeAttribute('d');
  else {
    chosen.setAttribute('d', outline(j, lattice ? -1 : 2));
    moveTo(j);
    column = at[j][0];
  }
  onSelect.forEach((action) => action(j));
}

// The nearest neuron in a direction, within 60 degrees of it.
function toward(dx, dy) {
  const [x, y] = at[current];
  let [best, least] = [null, Infinity];
  at.forEach(([px, py], j) => {
    const along = (px - x) * dx + (py - y) * dy;
    const aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (j === current || along <= 0 || aside > along * SQRT3) return;
    const cost = along + aside + (dy ? 0.01 * Math.abs(px - column) : 0);
    if (cost < least - 1e-9) [best, least] = [j, cost];
  });
  if (best !== null) {
    moveTo(best);
    if (dx) column = at[best][0];
  }
}

const keys = {
  ArrowLeft: () => toward(-1, 0), ArrowRight: () => toward(1, 0), ArrowUp: () => toward(0, -1), ArrowDown: () => toward(0, 1),
  Home: () => moveTo(0), End: () => moveTo(K - 1), Enter: () => select(current), ' ': () => select(current),
};
map.addEventListener('keydown', (event) => {
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
});
const cellAt = (event) => event.target.closest('[data-neuron]');
map.addEventListener('click', (event) => {
  if (cellAt(event)) select(Number(cellAt(event).dataset.neuron));
});
map.addEventListener('pointerover', (event) => { // a browser's own tooltip, made when first needed
  const cell = cellAt(event);
  if (cell && !cell.firstChild) cell.append(s('title', {}, cell.getAttribute('aria-label')));
});
