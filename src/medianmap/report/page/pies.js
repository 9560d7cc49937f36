// What is painted on the cells: their fill, pies of classes, numbers of points, sides of the U-matrix.
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

// Pies: all slices of one style are one path.
function drawPies() {
  const paths = content.styles.map(() => []);
  content.neurons.forEach((_, j) => {
    let start = 0;
    for (const [style, share] of coloring.shares(j)) {
      paths[style].push(slice(j, start, share));
      start += share;
    }
  });
  return paths.flatMap((slices, style) => (slices.length
    ? s('path', { class: 'slice', d: slices.join(''), fill: fillOf(style), 'data-class': style }) : []));
}

// Where a neuron's pie or number is: aside where the cell shows its exemplar.
const seat = (j) => (detailed && lattice ? [at[j][0], at[j][1] - 0.3 * STEP, 0.42 * radius[j]] : [...at[j], radius[j] * nodeScale]);

function slice(j, start, share) {
  const [x, y, size] = seat(j);
  const r = rounded(size);
  if (share > 0.9999) return circle(x, y, r);
  const place = (t) => `${rounded(x + r * Math.sin(2 * Math.PI * t))} ${rounded(y - r * Math.cos(2 * Math.PI * t))}`;
  return `M${rounded(x)} ${rounded(y)}L${place(start)}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${place(start + share)}Z`;
}

let coloring = colorings[0];
let detailed = false; // cells are large enough to show what is in them
function paintCells() {
  cells.forEach((shape, j) => {
    const fill = coloring.fill(j);
    shape.classList.toggle('none', fill === null);
    shape.classList.toggle('dim', coloring.dimmed(j));
    if (fill === null) shape.removeAttribute('fill');
    else shape.setAttribute('fill', fill);
    if (coloring.shares) shape.setAttribute('fill-opacity', lattice ? 0.24 : 1);
    else shape.removeAttribute('fill-opacity');
  });
  const over = [];
  if (coloring.shares) over.push(...drawPies());
  if (coloring.key === 'hits' && lattice && K <= 400) {
    content.neurons.forEach((neuron, j) => {
      const [x, y] = seat(j);
      if (neuron.hits) over.push(s('text', { class: 'count', x: rounded(x), y: rounded(y), fill: inkOn(coloring.fill(j)) }, whole.format(neuron.hits)));
    });
  }
  pies.replaceChildren(...over);
  walls.replaceChildren(...drawWalls(coloring));
  onPaint.forEach((action) => action());
}
const onPaint = [];
function paint() {
  paintCells();
  drawLegend(coloring);
}
