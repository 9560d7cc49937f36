// The map: one group per neuron, as options of a list that arrow keys move through.
const STEP = 60;
const SQRT3 = Math.sqrt(3);
const lattice = content.lattice;
const K = content.neurons.length;
const largest = Math.max(...content.neurons.map((neuron) => neuron.hits), 1);
const field2d = lattice ? STEP : Math.min(1000, 500 + 40 * Math.sqrt(K));
const nodeMost = Math.max(6, Math.min(24, 120 / Math.sqrt(K)));
const at = content.neurons.map((neuron) => [neuron.x * field2d, neuron.y * field2d]);
const radius = content.neurons.map((neuron) => {
  const size = Math.sqrt(neuron.hits / largest);
  return lattice ? STEP * 0.42 * Math.max(size, 0.16) : Math.max(nodeMost * size, nodeMost * 0.3, 3);
});

let nodeScale = 1; // when the map is zoomed in, nodes grow less than the map
const rounded = (x) => Math.round(x * 100) / 100;
const circle = (x, y, r) => `M${rounded(x - r)} ${rounded(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
const linked = lattice?.kind === 'given'; // discs joined by lines, where the user gave the distances
// Corners around a cell's centre, for a lattice of step 1.
const corners = lattice && (lattice.kind === 'hexagonal'
  ? [30, 90, 150, 210, 270, 330].map((turn) => [Math.cos((turn * Math.PI) / 180) / SQRT3, Math.sin((turn * Math.PI) / 180) / SQRT3])
  : [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]);
function outline(j, grow = 0) {
  const [x, y] = at[j];
  if (!lattice) return circle(x, y, rounded((radius[j] + grow) * nodeScale));
  if (linked) return circle(x, y, rounded(STEP * 0.42 + grow));
  const size = STEP + 2 * grow;
  return 'M' + corners.map(([dx, dy]) => `${rounded(x + size * dx)} ${rounded(y + size * dy)}`).join('L') + 'Z';
}

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
const [links, walls, pies, torn, marks, active, chosen] = [
  s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('path', { class: 'over active' }), s('path', { class: 'over selected' }),
];
const map = s('svg', {
  tabindex: 0, role: 'listbox', 'aria-describedby': 'hint', class: lattice ? 'grid' : 'graph',
  'aria-label': lattice ? `Map of ${lattice.grid ? lattice.grid.join(' by ') : K} neurons` : `Graph of ${K} prototypes`,
}, links, cells, walls, pies, torn, marks, chosen, active);

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

// Torn links: the two nearest neurons of some points, which do not touch; the more points, the wider.
function drawTorn(shown) {
  const most = content.order.torn[0][2];
  torn.replaceChildren(...(shown ? content.order.torn : []).map(([a, b, count]) => s('path', {
    class: 'torn', d: `M${at[a].map(rounded)}L${at[b].map(rounded)}`, 'stroke-width': rounded(2 + 6 * Math.sqrt(count / most)),
  })));
}

// U-matrix: the side between two cells has the colour of their dissimilarity; sides of one shade are one path.
const SHADES = 32;
function drawWalls(coloring) {
  if (!lattice || coloring.key !== 'u') return [];
  const half = (lattice.kind === 'hexagonal' ? STEP / SQRT3 : STEP) / 2;
  const shades = Array.from({ length: SHADES + 1 }, () => []);
  for (const [a, b, d] of content.edges) {
    const [dx, dy] = [at[b][0] - at[a][0], at[b][1] - at[a][1]];
    const far = Math.hypot(dx, dy);
    if (far > 1.2 * STEP && !linked) continue; // around a torus, or between layers
    const [mx, my, ux, uy] = [(at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2, (-dy / far) * half, (dx / far) * half];
    const shade = Math.round(SHADES * coloring.share(d));
    shades[shade].push(`M${rounded(mx - ux)} ${rounded(my - uy)}L${rounded(mx + ux)} ${rounded(my + uy)}`);
  }
  return shades.flatMap((sides, k) => (sides.length
    ? s('path', { class: 'wall', d: sides.join(''), stroke: ramp(k / SHADES), 'stroke-width': 5 }) : []));
}

// Pies: all slices of one class are one path.
function drawPies() {
  return content.classes.colors.flatMap((color, k) => {
    const slices = content.classes.shares.flatMap((shares, j) => (shares[k] > 0 ? slice(j, shares, k) : []));
    return slices.length ? s('path', { class: 'slice', d: slices.join(''), fill: color, 'data-class': k }) : [];
  });
}

function slice(j, shares, k) {
  const [[x, y], r, share] = [at[j], rounded(radius[j] * nodeScale), shares[k]];
  if (share > 0.9999) return circle(x, y, r);
  const start = shares.slice(0, k).reduce((sum, each) => sum + each, 0);
  const place = (t) => `${rounded(x + r * Math.sin(2 * Math.PI * t))} ${rounded(y - r * Math.cos(2 * Math.PI * t))}`;
  return `M${rounded(x)} ${rounded(y)}L${place(start)}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${place(start + share)}Z`;
}

let coloring = colorings[0];
function paint() {
  cells.forEach((shape, j) => {
    const fill = coloring.fill(j);
    shape.classList.toggle('none', fill === null);
    if (fill === null) shape.removeAttribute('fill');
    else shape.setAttribute('fill', fill);
    if (coloring.key === 'labels') shape.setAttribute('fill-opacity', lattice ? 0.24 : 1);
    else shape.removeAttribute('fill-opacity');
  });
  const over = [];
  if (coloring.key === 'labels') over.push(...drawPies());
  if (coloring.key === 'hits' && lattice && K <= 400) {
    content.neurons.forEach((neuron, j) => {
      if (neuron.hits) over.push(s('text', { class: 'count', x: rounded(at[j][0]), y: rounded(at[j][1]), fill: inkOn(coloring.fill(j)) }, whole.format(neuron.hits)));
    });
  }
  pies.replaceChildren(...over);
  walls.replaceChildren(...drawWalls(coloring));
  drawLegend(coloring);
}

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
}

function moveTo(j) {
  current = j;
  active.setAttribute('d', outline(j, lattice ? -2 : 4));
  map.setAttribute('aria-activedescendant', `n${j}`);
}

function select(j) {
  if (selected !== null) cells[selected].setAttribute('aria-selected', 'false');
  selected = j;
  if (j === null) chosen.removeAttribute('d');
  else {
    cells[j].setAttribute('aria-selected', 'true');
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
