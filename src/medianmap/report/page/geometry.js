// Where neurons lie and what their cells look like: hexagons, squares, or discs of a graph.
const STEP = 60;
const SQRT3 = Math.sqrt(3);
const rounded = (x) => Math.round(x * 100) / 100;
const circle = (x, y, r) => `M${rounded(x - r)} ${rounded(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;

// The areas of pies grow with the root of the points: one neuron with a third of them leaves the others legible.
const sizeOf = (n, most) => (n / most) ** 0.25;
const SIZES = 'areas grow with the root of the number of points';

function geometryOf({ lattice, neurons }) {
  const K = neurons.length;
  const largest = Math.max(...neurons.map((neuron) => neuron.hits), 1);
  const field = lattice ? STEP : Math.min(1000, 500 + 40 * Math.sqrt(K));
  const nodeMost = Math.max(6, Math.min(24, 120 / Math.sqrt(K)));
  const at = neurons.map((neuron) => [neuron.x * field, neuron.y * field]);
  const radius = neurons.map((neuron) => {
    const size = sizeOf(neuron.hits, largest);
    return lattice ? STEP * 0.42 * Math.max(size, 0.16) : Math.max(nodeMost * size, nodeMost * 0.3, 3);
  });
  const linked = lattice?.kind === 'given'; // discs joined by lines, where the user gave the distances
  const plane = lattice?.grid?.length === 2;
  // Corners around a cell's centre, for a lattice of step 1.
  const corners = lattice && (lattice.kind === 'hexagonal'
    ? [30, 90, 150, 210, 270, 330].map((turn) => [Math.cos((turn * Math.PI) / 180) / SQRT3, Math.sin((turn * Math.PI) / 180) / SQRT3])
    : [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]);
  function outline(j, grow = 0, scale = 1) {
    const [x, y] = at[j];
    if (!lattice) return circle(x, y, rounded((radius[j] + grow) * scale));
    if (linked) return circle(x, y, rounded(STEP * 0.42 + grow));
    const size = STEP + 2 * grow;
    return 'M' + corners.map(([dx, dy]) => `${rounded(x + size * dx)} ${rounded(y + size * dy)}`).join('L') + 'Z';
  }
  // Numbers of rows and columns are written at the left and on top, from 0 as in tables; of many every 2nd, 5th, 10th.
  const letter = plane ? Math.max(15, 0.26 * STEP, 0.022 * STEP * Math.max(...lattice.grid)) : 0;
  function rulers() {
    if (!plane) return [];
    const [rows, columns] = lattice.grid;
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * STEP > 2 * letter) ?? 100;
    const numbers = [];
    for (let row = 0; row < rows; row += every) {
      const [x, y] = at[row * columns];
      numbers.push(s('text', { class: 'ruler', x: rounded(x - STEP * 0.62), y: rounded(y), 'text-anchor': 'end', 'dominant-baseline': 'central', 'font-size': rounded(letter) }, String(row)));
    }
    for (let column = 0; column < columns; column += every) {
      const [x, y] = at[column];
      numbers.push(s('text', { class: 'ruler', x: rounded(x), y: rounded(y - STEP * 0.72), 'text-anchor': 'middle', 'font-size': rounded(letter) }, String(column)));
    }
    return numbers;
  }
  const whole = (() => {
    const margin = lattice ? STEP * 0.64 : nodeMost + 10;
    const least = lattice ? 4 * STEP : 300; // a few neurons are not enlarged further
    const [left, top] = plane ? [1.5 * letter, 1.2 * letter] : [0, 0];
    const [across, down] = [0, 1].map((axis) => {
      const along = at.map((point) => point[axis]);
      const [low, high] = [Math.min(...along) - margin - [left, top][axis], Math.max(...along) + margin];
      const size = axis === 0 || !lattice ? Math.max(high - low, least) : high - low;
      return [(low + high - size) / 2, size];
    });
    return [across[0], down[0], across[1], down[1]];
  })();
  return { K, at, radius, nodeMost, linked, outline, rulers, whole };
}

// Whether a place lies inside a closed line of corners.
function inside([x, y], corners) {
  let within = false;
  for (let k = 0, l = corners.length - 1; k < corners.length; l = k++) {
    const [[ax, ay], [bx, by]] = [corners[k], corners[l]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
