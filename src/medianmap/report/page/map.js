// The map: one group a neuron, as options of a list that arrow keys move through.
const STEP = 60;
const SQRT3 = Math.sqrt(3);
const lattice = content.lattice;
const K = content.neurons.length;
const largest = Math.max(...content.neurons.map((neuron) => neuron.hits), 1);
const field2d = lattice ? STEP : Math.min(1000, 420 + 16 * Math.sqrt(K) * 3);
const nodeMost = Math.max(5, Math.min(30, 150 / Math.sqrt(K)));
const at = content.neurons.map((neuron) => [neuron.x * field2d, neuron.y * field2d]);
const radius = content.neurons.map((neuron) => {
  const size = Math.sqrt(neuron.hits / largest);
  return lattice ? STEP * 0.42 * Math.max(size, 0.16) : Math.max(nodeMost * size, nodeMost * 0.22, 2.5);
});

const rounded = (x) => Math.round(x * 100) / 100;
const path = (points) => 'M' + points.map(([x, y]) => `${rounded(x)} ${rounded(y)}`).join('L') + 'Z';
function outline(j, grow = 0) {
  const [x, y] = at[j];
  if (!lattice) {
    const r = rounded(radius[j] + grow);
    return `M${rounded(x - r)} ${rounded(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
  if (lattice.kind === 'hexagonal') {
    const r = STEP / SQRT3 + grow;
    return path([0, 1, 2, 3, 4, 5].map((k) => {
      const turn = (Math.PI / 180) * (30 + 60 * k);
      return [x + r * Math.cos(turn), y + r * Math.sin(turn)];
    }));
  }
  const r = STEP / 2 + grow;
  return path([[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]]);
}

function toldOf(j) {
  const neuron = content.neurons[j];
  const parts = [`neuron ${j}`, counted(neuron.hits, 'point')];
  if (neuron.majority) parts.push(`mostly ${neuron.majority}`);
  if (neuron.exemplar !== null) parts.push(`exemplar ${neuron.exemplar}`);
  return parts.join(', ');
}

const cells = content.neurons.map((neuron, j) =>
  s('g', { class: 'cell', role: 'option', id: `n${j}`, 'data-neuron': j, 'aria-selected': 'false' },
    s('title', {}, toldOf(j)), s('path', { class: 'shape', d: outline(j) })));
const shapes = cells.map((cell) => cell.lastChild);
const [links, walls, pies, marks, active, chosen] = [
  s('g', {}), s('g', {}), s('g', {}), s('g', {}), s('path', { class: 'over active' }), s('path', { class: 'over selected' }),
];
const map = s('svg', {
  tabindex: 0, role: 'listbox', 'aria-describedby': 'hint', class: lattice ? 'grid' : 'graph',
  'aria-label': lattice ? `Map of ${lattice.rows} by ${lattice.columns} neurons` : `Graph of ${K} prototypes`,
}, links, cells, walls, pies, marks, chosen, active);

function frame() {
  const margin = lattice ? STEP * 0.64 : nodeMost + 10;
  const [xs, ys] = [0, 1].map((axis) => at.map((point) => point[axis]));
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const [width, height] = [Math.max(...xs) + margin - left, Math.max(...ys) + margin - top];
  map.setAttribute('viewBox', [left, top, width, height].map(rounded).join(' '));
}

// Edges in a few strengths, one path each: thousands of lines stay cheap.
function drawLinks() {
  if (lattice) return;
  const most = Math.max(...content.edges.map((edge) => edge[3]), 1);
  const bins = [1, 2, 3, 4, 5].map(() => []);
  for (const [a, b, , count] of content.edges) {
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

// U-matrix: the side between two cells has the colour of their dissimilarity.
function drawWalls(coloring) {
  if (!lattice || coloring.key !== 'u') return [];
  const values = content.edges.map((edge) => edge[2]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const half = (lattice.kind === 'hexagonal' ? STEP / SQRT3 : STEP) * 0.36;
  return content.edges.flatMap(([a, b, d]) => {
    const [dx, dy] = [at[b][0] - at[a][0], at[b][1] - at[a][1]];
    const far = Math.hypot(dx, dy);
    if (far > 1.2 * STEP) return []; // round the back of a torus
    const [mx, my, ux, uy] = [(at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2, (-dy / far) * half, (dx / far) * half];
    return s('path', {
      class: 'wall', d: `M${rounded(mx - ux)} ${rounded(my - uy)}L${rounded(mx + ux)} ${rounded(my + uy)}`,
      stroke: ramp(high > low ? (d - low) / (high - low) : 0), 'stroke-width': 7,
    });
  });
}

function pie(j) {
  const [x, y] = at[j];
  const r = radius[j];
  let turn = 0;
  return content.classes.shares[j].flatMap((share, k) => {
    if (share <= 0) return [];
    const color = content.classes.colors[k];
    if (share > 0.9999) return s('circle', { class: 'slice', cx: rounded(x), cy: rounded(y), r: rounded(r), fill: color });
    const place = (t) => `${rounded(x + r * Math.sin(2 * Math.PI * t))} ${rounded(y - r * Math.cos(2 * Math.PI * t))}`;
    const d = `M${rounded(x)} ${rounded(y)}L${place(turn)}A${rounded(r)} ${rounded(r)} 0 ${share > 0.5 ? 1 : 0} 1 ${place(turn + share)}Z`;
    turn += share;
    return s('path', { class: 'slice', d, fill: color });
  });
}

let coloring = colorings[0];
function paint() {
  shapes.forEach((shape, j) => {
    const fill = coloring.fill(j);
    shape.classList.toggle('none', fill === null);
    if (fill === null) shape.removeAttribute('fill');
    else shape.setAttribute('fill', fill);
    if (coloring.key === 'labels') shape.setAttribute('fill-opacity', lattice ? 0.24 : 1);
    else shape.removeAttribute('fill-opacity');
  });
  const over = [];
  if (coloring.key === 'labels') for (let j = 0; j < K; j++) over.push(...pie(j));
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
    const cost = along + 2 * aside + (dy ? 0.01 * Math.abs(px - column) : 0);
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
map.addEventListener('click', (event) => {
  const cell = event.target.closest('[data-neuron]');
  if (cell) select(Number(cell.dataset.neuron));
});
