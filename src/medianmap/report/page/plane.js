// A second view: the points one by one, by classical scaling or inside their cells; what is selected is the same in both.
const MOST_DOTS = 5000;
const PLANE = [0, 0, 1000, 620];
const dots = []; // { j, k, x, y } of what is drawn
const planeOf = s('svg', { viewBox: PLANE.join(' '), role: 'img', 'aria-label': 'Points in the plane', id: 'points' });
let layoutOfPoints = content.plane.correlation === null ? 'cells' : 'scaling';

const SHAPES = {
  plain: (x, y, r) => circle(x, y, r),
  stripes: (x, y, r) => `M${rounded(x - r)} ${rounded(y - r)}h${2 * r}v${2 * r}h${-2 * r}Z`,
  dots: (x, y, r) => `M${rounded(x)} ${rounded(y - 1.3 * r)}l${rounded(1.2 * r)} ${rounded(2.2 * r)}h${rounded(-2.4 * r)}Z`,
  grid: (x, y, r) => `M${rounded(x)} ${rounded(y - 1.3 * r)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}Z`,
};

// The nearest member in the middle of its cell, the others around it in a spiral.
function inCells() {
  const [x0, y0, wide, high] = wholeView;
  const scale = Math.min(PLANE[2] / wide, PLANE[3] / high);
  const left = (PLANE[2] - scale * wide) / 2;
  const reach = lattice ? 0.42 * STEP : null;
  return content.plane.places.map(([j, k]) => {
    const n = content.neurons[j].hits;
    const [r, turn] = [(reach ?? radius[j]) * Math.sqrt((k + 0.5) / n), 2.39996 * k];
    return { j, k, x: left + scale * (at[j][0] - x0 + r * Math.cos(turn)), y: scale * (at[j][1] - y0 + r * Math.sin(turn)) };
  });
}
function byScaling() {
  const places = content.plane.places.map(([j, k, x, y]) => ({ j, k, x, y }));
  const far = [0, 1].map((axis) => Math.max(...places.map(({ x, y }) => [x, y][axis]), 1));
  const scale = Math.min((PLANE[2] - 30) / far[0], (PLANE[3] - 30) / far[1]);
  const [left, top] = [(PLANE[2] - scale * far[0]) / 2, (PLANE[3] - scale * far[1]) / 2];
  return places.map((dot) => ({ ...dot, x: left + scale * dot.x, y: top + scale * dot.y }));
}

// Dots of one look are one path; those of the selection lie on top, with a ring.
function drawPlane() {
  const lit = highlighted();
  const looks = new Map();
  const size = dots.length > 1000 ? 3 : 4.5;
  for (const { j, k, x, y } of dots) {
    const [fill, pattern, pale] = coloring.point(j, k);
    const on = lit.has(j);
    const look = `${on ? 1 : 0} ${pale || (lit.size && !on) ? 1 : 0} ${pattern} ${fill ?? 'none'}`;
    if (!looks.has(look)) looks.set(look, { on, pale: pale || (lit.size > 0 && !on), fill, pattern, d: [] });
    looks.get(look).d.push(SHAPES[pattern](x, y, on ? 1.25 * size : size));
  }
  const order = [...looks.values()].sort((a, b) => a.on - b.on || b.pale - a.pale);
  planeOf.replaceChildren(...order.map(({ on, pale, fill, d }) => s('path', { class: `dots${on ? ' lit' : ''}${pale ? ' pale' : ''}${fill === null ? ' none' : ''}`, d: d.join(''), fill, 'data-n': d.length })));
  byId('plane-told').textContent = toldOfPlane();
}

function toldOfPlane() {
  const { places, correlation } = content.plane;
  const some = places.length < content.n_points ? ` ${whole.format(places.length)} of the ${whole.format(content.n_points)} points, evenly drawn.` : '';
  const how = layoutOfPoints === 'scaling'
    ? `Points by classical scaling: distances here go with the dissimilarities (correlation ${told(correlation)}${correlation < 0.7 ? ', so near dots need not be alike' : ''}).`
    : 'Each point in the cell of its neuron, nearest to the exemplar in the middle.';
  const shapes = coloring.classes && coloring.top.length > 7 ? ' Squares: striped classes; triangles: dotted ones; diamonds: all others.' : '';
  const lit = highlighted();
  const n = lit.size ? ` ${counted(dots.filter(({ j }) => lit.has(j)).length, 'point')} of the selection ringed.` : '';
  return how + some + shapes + n;
}

function place() {
  dots.length = 0;
  dots.push(...(layoutOfPoints === 'scaling' ? byScaling() : inCells()).slice(0, MOST_DOTS));
  drawPlane();
}
function placeInPlane(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(planeOf.getScreenCTM().inverse());
  return [point.x, point.y];
}

function setUpPlane() {
  byId('plane').append(planeOf);
  if (content.plane.correlation !== null) {
    byId('layouts').append(...[['scaling', 'By classical scaling'], ['cells', 'In their cells']].map(([value, name]) => {
      const input = h('input', { type: 'radio', name: 'layout', value, checked: value === layoutOfPoints });
      input.addEventListener('change', () => { layoutOfPoints = value; place(); });
      return h('label', {}, input, name);
    }));
  } else byId('layouts').hidden = true;
  regionsOf(planeOf, placeInPlane, (corners) => pick(new Set(dots.filter(({ x, y }) => inside([x, y], corners)).map(({ j }) => j))));
  planeOf.addEventListener('click', (event) => {
    const [x, y] = placeInPlane(event);
    const near = dots.map((dot) => [Math.hypot(dot.x - x, dot.y - y), dot.j]).reduce((best, each) => (each[0] < best[0] ? each : best), [14, null]);
    if (near[1] === null) clearAll();
    else if (event.ctrlKey || event.metaKey) toggle(near[1]);
    else select(near[1]);
  });
  onPaint.push(drawPlane);
  onPick.push(drawPlane);
  place();
}
