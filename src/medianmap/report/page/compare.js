// Two maps of the same points side by side: what is chosen on one is shown on both; below, who moved.
const FIRST = 200;
const [A, B] = [0, 1];
const sides = content.maps.map((shown, m) => {
  const geometry = geometryOf(shown);
  const cells = shown.neurons.map((neuron, j) => s('path', {
    class: 'cell', d: geometry.outline(j), role: 'option', id: `${'ab'[m]}${j}`, 'data-neuron': j, 'aria-selected': 'false',
    'aria-label': `neuron ${j} of ${shown.name}, ${counted(neuron.hits, 'point')}${neuron.exemplar ? `, exemplar ${neuron.exemplar}` : ''}`,
  }));
  const [pies, linked, active, picked] = [s('g', {}), s('g', {}), s('path', { class: 'over active' }), s('path', { class: 'over selected' })];
  const drawing = s('svg', {
    tabindex: 0, role: 'listbox', 'aria-multiselectable': 'true', 'aria-describedby': 'hint', 'aria-label': `Map ${shown.name}`, viewBox: geometry.whole.map(rounded).join(' '),
    class: shown.lattice ? 'grid' : 'graph',
  }, m === A ? patterns() : null, cells, pies, geometry.rulers(), linked, picked, active);
  return { ...shown, geometry, cells, pies, linked, active, picked, drawing, current: 0 };
});

// Of each neuron of either map, the points it shares with neurons of the other.
const shared = sides.map(({ neurons }) => neurons.map(() => []));
for (const [a, b, n] of content.both) {
  shared[A][a].push([b, n]);
  shared[B][b].push([a, n]);
}
const matchOf = sides.map(({ neurons }) => neurons.map(() => null));
for (const [a, b, n] of content.matches) {
  matchOf[A][a] = [b, n];
  matchOf[B][b] = [a, n];
}
const stays = (m, j) => (sides[m].neurons[j].hits ? (matchOf[m][j]?.[1] ?? 0) / sides[m].neurons[j].hits : null);

const pieOf = (m, j, styles) => {
  const { at, radius } = sides[m].geometry;
  const n = styles.reduce((sum, [, own]) => sum + own, 0);
  let start = 0;
  return styles.map(([style, own]) => {
    const share = own / n;
    const [[x, y], r] = [at[j], rounded(radius[j])];
    const place = (t) => `${rounded(x + r * Math.sin(2 * Math.PI * t))} ${rounded(y - r * Math.cos(2 * Math.PI * t))}`;
    const d = share > 0.9999 ? circle(x, y, r) : `M${rounded(x)} ${rounded(y)}L${place(start)}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${place(start + share)}Z`;
    start += share;
    return s('path', { class: 'slice', d, fill: fillOf(style) });
  });
};
const stylesAt = (m, j) => {
  const [flat, found] = [sides[m].counts[j], new Map()];
  for (let k = 0; k < flat.length; k += 2) found.set(styleOf(flat[k]), (found.get(styleOf(flat[k])) ?? 0) + flat[k + 1]);
  return [...found].sort((p, q) => p[0] - q[0]);
};
// The largest classes have styles of their own, as on a page of one map.
const totals = content.class_names.map(() => 0);
for (const flat of sides[A].counts ?? []) for (let k = 0; k < flat.length; k += 2) totals[flat[k]] += flat[k + 1];
const top = totals.map((_, code) => code).sort((a, b) => totals[b] - totals[a] || a - b).slice(0, STYLES).sort((a, b) => a - b);
const styleOf = (code) => (top.includes(code) ? top.indexOf(code) : OTHERS);

const key = (style, words) => h('span', { class: 'key' }, swatch(style), named(words));
const colorings = [
  {
    key: 'stay', name: 'Agreement', label: 'Share of the points at each neuron that its match on the other map has, too: pale neurons were split or merged',
    fill: (m, j) => (stays(m, j) === null ? null : ramp(stays(m, j))),
    legend: () => {
      const bar = s('svg', { viewBox: '0 0 40 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
      for (let k = 0; k < 40; k++) bar.append(s('rect', { x: k, y: 0, width: 1.05, height: 1, fill: ramp(k / 39) }));
      return [h('span', { class: 'scale' }, '0', bar, '1')];
    },
  },
  content.class_names.length && {
    key: 'labels', name: 'Labels', label: `Classes of the points at each neuron, as a pie; ${SIZES}`, pies: true,
    fill: (m, j) => {
      const most = stylesAt(m, j).reduce((best, each) => (best && best[1] >= each[1] ? best : each), null);
      return most && content.styles[most[0]][0];
    },
    legend: () => [...top.map((code, k) => key(k, content.class_names[code])),
      ...(top.length < content.class_names.length ? [key(OTHERS, `${content.class_names.length - top.length} other classes`)] : [])],
  },
].filter(Boolean);
let coloring = colorings[0];

function paint() {
  sides.forEach(({ cells, pies }, m) => {
    cells.forEach((cell, j) => {
      const fill = coloring.fill(m, j);
      cell.classList.toggle('none', fill === null);
      if (fill === null) cell.removeAttribute('fill');
      else cell.setAttribute('fill', fill);
      cell.setAttribute('fill-opacity', coloring.pies ? 0.24 : 1);
    });
    pies.replaceChildren(...(coloring.pies ? cells.flatMap((_, j) => pieOf(m, j, stylesAt(m, j))) : []));
  });
  byId('legend').replaceChildren(h('span', { class: 'name' }, coloring.label), ...coloring.legend());
}

// What is chosen: neurons of one map; on the other, how many of their points each neuron has.
let chosen = { m: A, neurons: new Set() };
function choose(m, neurons) {
  chosen = { m, neurons: new Set(neurons) };
  sides.forEach((side, own) => {
    const on = own === m ? chosen.neurons : new Set();
    side.cells.forEach((cell, j) => cell.setAttribute('aria-selected', String(on.has(j))));
    side.picked.setAttribute('d', [...on].map((j) => side.geometry.outline(j, side.lattice ? -1 : 2)).join(''));
    side.linked.replaceChildren();
    side.drawing.classList.toggle('linked', own !== m && chosen.neurons.size > 0);
  });
  const other = sides[1 - m];
  for (const [l, n] of arrivals()) {
    const [x, y] = other.geometry.at[l];
    other.cells[l].classList.toggle('found', true);
    other.linked.append(s('path', { class: 'over match', d: other.geometry.outline(l, other.lattice ? -3 : 2) }),
      s('text', { class: 'arrived', x: rounded(x), y: rounded(y) }, whole.format(n)));
  }
  const reached = new Set(arrivals().map(([l]) => l));
  other.cells.forEach((cell, l) => cell.classList.toggle('dim', chosen.neurons.size > 0 && !reached.has(l)));
  sides[m].cells.forEach((cell) => cell.classList.remove('dim'));
  showPanel();
  showPoints();
}
function arrivals() {
  const found = new Map();
  for (const j of chosen.neurons) for (const [l, n] of shared[chosen.m][j]) found.set(l, (found.get(l) ?? 0) + n);
  return [...found].sort((p, q) => q[1] - p[1] || p[0] - q[0]);
}

const goTo = (m, j) => button(`neuron ${j}`, () => choose(m, [j]), { class: 'link-button' });
function showPanel() {
  const { m, neurons } = chosen;
  const [here, there] = [sides[m], sides[1 - m]];
  const facts = h('dl', { class: 'facts' }, [['adjusted Rand index', content.adjusted_rand], ['mutual information, normalized', content.normalized_mutual_information],
    ['points', content.n_points], ['moved', content.n_moved]].map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, told(value)))));
  if (!neurons.size) {
    byId('panel').replaceChildren(h('h2', { tabindex: -1 }, 'How far the maps agree'), facts,
      h('p', { class: 'muted' }, `Each neuron of ${sides[A].name} is matched with one of ${sides[B].name} so that the pairs have the most points in common. A point that is not at the match of its neuron has moved. Choose neurons on one map to see where their points are on the other.`));
    return;
  }
  const n = [...neurons].reduce((sum, j) => sum + here.neurons[j].hits, 0);
  const one = neurons.size === 1 ? [...neurons][0] : null;
  byId('panel').replaceChildren(
    h('div', { class: 'title-row' }, h('h2', { tabindex: -1 }, one === null ? counted(neurons.size, 'neuron') : `Neuron ${one}`, h('span', { class: 'muted' }, ` of ${here.name} · ${counted(n, 'point')}`)),
      button('Close', () => choose(m, []), { class: 'close' })),
    ...(one === null ? [] : [h('p', { class: 'exemplar-id' }, named(here.neurons[one].exemplar ?? '–'))]),
    h('h3', {}, `Where they are on ${there.name}`),
    h('table', { class: 'members' }, h('tbody', {}, arrivals().slice(0, FIRST).map(([l, own]) => h('tr', {}, h('td', {}, goTo(1 - m, l)),
      h('td', { class: 'id' }, named(there.neurons[l].exemplar ?? '–')), h('td', {}, one !== null && matchOf[m][one]?.[0] === l ? 'its match' : ''), h('td', { class: 'number' }, `${told(own)} of ${told(there.neurons[l].hits)}`))))));
}

// Points that moved, of the chosen neurons or all; then the others of the chosen neurons.
const listed = content.points.map(([id, a, b, code], k) => ({ id, at: [a, b], code, moved: k < content.n_moved, steps: content.steps[k] ?? null }));
const inChoice = () => listed.filter(({ at, moved }) => (chosen.neurons.size ? chosen.neurons.has(at[chosen.m]) : moved));
const classed = content.class_names.length > 0;
const columnsOf = () => ['id', sides[A].name, sides[B].name, 'moved', ...(sides[B].lattice ? [`steps on ${sides[B].name}`] : []), ...(classed ? ['class'] : [])];
const rowOf = ({ id, at, moved, steps, code }) => [id, ...at, moved ? 'yes' : 'no', ...(sides[B].lattice ? [steps] : []), ...(classed ? [content.class_names[code]] : [])];
function showPoints() {
  const found = inChoice();
  byId('moved-title').textContent = chosen.neurons.size ? 'Members of the selection' : 'Members that moved';
  byId('moved-told').textContent = `${counted(found.length, 'point')}, those that moved farthest first${found.length > FIRST ? `; the first ${FIRST} are listed, the file has all` : ''}${listed.length < content.n_points ? ` (${whole.format(listed.length)} of the ${whole.format(content.n_points)} points are on this page)` : ''}.`;
  byId('table').replaceChildren(h('table', {}, h('thead', {}, h('tr', {}, columnsOf().map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, found.slice(0, FIRST).map((point) => h('tr', {}, rowOf(point).map((value, k) => h('td', { class: k === 0 ? 'id' : null },
      k === 0 ? named(value) : k < 3 ? goTo(k - 1, value) : typeof value === 'number' ? told(value) : named(value ?? '–'))))))));
}

function setUp(m) {
  const { drawing, geometry, cells, active } = sides[m];
  const placeIn = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    return [point.x, point.y];
  };
  regionsOf(drawing, placeIn, (corners) => choose(m, geometry.at.flatMap((place, j) => (inside(place, corners) ? [j] : []))));
  const toggled = (j) => {
    const next = new Set(chosen.m === m ? chosen.neurons : []);
    if (!next.delete(j)) next.add(j);
    return next;
  };
  drawing.addEventListener('click', (event) => {
    const cell = event.target.closest('[data-neuron]');
    if (cell) choose(m, event.ctrlKey || event.metaKey ? toggled(Number(cell.dataset.neuron)) : [Number(cell.dataset.neuron)]);
  });
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const moveTo = (j) => {
    sides[m].current = j;
    active.setAttribute('d', geometry.outline(j, -2));
    drawing.setAttribute('aria-activedescendant', cells[j].id);
  };
  drawing.addEventListener('keydown', (event) => {
    const { current } = sides[m];
    if (event.key === 'Enter' || event.key === ' ') choose(m, [current]);
    else if (event.key === 'x') choose(m, toggled(current));
    else if (step[event.key]) {
      const [[dx, dy], [x, y]] = [step[event.key], geometry.at[current]];
      const near = geometry.at.map(([px, py], j) => [(px - x) * dx + (py - y) * dy, Math.abs((px - x) * dy) + Math.abs((py - y) * dx), j])
        .filter(([along, aside, j]) => j !== current && along > 0 && aside <= along * SQRT3).sort((p, q) => p[0] + 2 * p[1] - q[0] - 2 * q[1])[0];
      if (near) moveTo(near[2]);
    } else return;
    event.preventDefault();
  });
  drawing.addEventListener('pointerover', (event) => {
    const cell = event.target.closest('[data-neuron]');
    if (cell && !cell.firstChild) cell.append(s('title', {}, cell.getAttribute('aria-label')));
  });
  const { name, map, neurons, lattice, metric } = sides[m];
  byId(`name-${'ab'[m]}`).append(named(name), h('span', { class: 'muted' }, ` · ${map} · ${lattice?.grid ? lattice.grid.join(' × ') : counted(neurons.length, 'neuron')}${metric ? ` · ${metric}` : ''}`));
  byId(`map-${'ab'[m]}`).append(drawing);
  moveTo(0);
}

byId('lead').textContent = `Adjusted Rand index ${told(content.adjusted_rand)} · ${counted(content.n_moved, 'point')} of ${whole.format(content.n_points)} moved`;
byId('tools').append(...regionTools());
byId('hint').textContent = 'Click a neuron of either map, or move with the arrow keys and press Enter; Ctrl with a click or x adds one, Shift with dragging a rectangle of them; Escape clears.';
byId('downloads').append(button('As TSV', () => download('compared.tsv', [tsvLine(columnsOf()), ...inChoice().map((point) => tsvLine(rowOf(point)))]), { id: 'download-moved' }));
byId('footer').textContent = 'Made with medianmap. This page holds all its data and asks no network for anything.';
colorings.forEach((each, k) => {
  const input = h('input', { type: 'radio', name: 'coloring', value: each.key, checked: k === 0 });
  input.addEventListener('change', () => { coloring = each; paint(); });
  byId('colorings').append(h('label', {}, input, each.name));
});
setUp(A);
setUp(B);
const theme = byId('theme');
const themeName = () => { theme.textContent = isDark() ? 'Light theme' : 'Dark theme'; };
theme.hidden = false;
theme.addEventListener('click', () => { document.documentElement.dataset.theme = isDark() ? 'light' : 'dark'; themeName(); paint(); });
night.addEventListener('change', () => { themeName(); paint(); });
matchMedia('print').addEventListener('change', (event) => { printing = event.matches; paint(); });
themeName();
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') choose(chosen.m, []); });
paint();
choose(A, []);
document.documentElement.dataset.ready = 'yes';
