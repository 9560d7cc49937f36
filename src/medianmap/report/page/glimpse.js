// What cells show when they are large enough: the exemplar's name, and a small logo, text, curve, spectrum or profile.
const LEGIBLE = 92; // pixels of a step of the lattice
const MOST_GLIMPSES = 160;
const [WIDE, HIGH] = [44, 15]; // of the small drawing, in units of the map

const RESIDUES = { hydrophobic: 'AVILMC', aromatic: 'FWY', polar: 'STNQ', positive: 'KRH', negative: 'DE', special: 'GP' };
const BASES = { a: 'A', c: 'C', g: 'G', t: 'TU' };
function inkClass(letter) {
  const scheme = content.exemplars.alphabet === 'dna' ? BASES : RESIDUES;
  const found = Object.entries(scheme).find(([, letters]) => letters.includes(letter));
  return found ? `ink-${found[0]}` : 'ink-none';
}

// Letters of a column stand on each other, the most frequent on top; a whole column has the height of the drawing.
function logo(j) {
  const found = content.exemplars.logos?.[j];
  if (!found) return null;
  const step = WIDE / Math.max(found.columns.length, 6);
  const letters = found.columns.flatMap((column, k) => {
    let y = HIGH;
    return [...column.matchAll(/(\D)(\d+)/g)].reverse().map(([, letter, height]) => {
      const tall = (HIGH * Number(height)) / 99;
      const drawn = s('text', { class: `letter ${inkClass(letter)}`, 'text-anchor': 'middle', transform: `translate(${rounded((k + 0.5) * step)} ${rounded(y)}) scale(${rounded(step / 7.6)} ${rounded(Math.max(tall, 0.2) / 7.3)})` }, letter);
      y -= tall;
      return drawn;
    });
  });
  return s('g', {}, letters);
}

const line = (values, low, high) => values.map((value, k) => (value === null ? '' : `${k && values[k - 1] !== null ? 'L' : 'M'}${rounded((k * WIDE) / Math.max(1, values.length - 1))} ${rounded(HIGH - ((value - low) / (high - low)) * HIGH)}`)).join('');
const curve = (d) => s('path', { class: 'glimpse-line', d });
const small = {
  sequence: (data, j) => logo(j) ?? small.text(data),
  text: (data) => s('text', { class: 'glimpse-text', x: WIDE / 2, y: 7, 'text-anchor': 'middle' }, clipped(data.text, 13)),
  series: (data) => curve(line(data.values, ...seriesRange())),
  peaks: (data) => {
    const [[left, right], high] = [extent(data.x), Math.max(...data.y.map((y) => y ?? 0), 1e-300)];
    return curve(data.x.map((x, k) => `M${rounded(((x - left) / (right - left)) * WIDE)} ${HIGH}v${rounded((-HIGH * (data.y[k] ?? 0)) / high)}`).join(''));
  },
  // Each feature from its 5% to its 95% quantile.
  vector: (data) => {
    const shown = data.at ?? content.exemplars.features.map((_, k) => k);
    const shares = data.values.map((value, k) => {
      const q = content.exemplars.quantiles[shown[k]];
      return value === null || q[0] === null ? null : Math.min(Math.max((value - q[0]) / (q[4] - q[0] || 1), 0), 1);
    });
    const step = WIDE / shares.length;
    return s('g', {}, s('path', { class: 'glimpse-axis', d: `M0 ${HIGH / 2}H${WIDE}` }), s('path', { class: 'glimpse-bars', d: shares.map((t, k) => (t === null ? '' : `M${rounded(k * step + 0.1 * step)} ${HIGH / 2}h${rounded(0.8 * step)}V${rounded(HIGH * (1 - t))}h${rounded(-0.8 * step)}Z`)).join('') }));
  },
};
const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function glimpse(j) {
  const neuron = content.neurons[j];
  if (neuron.exemplar === null) return [];
  const size = lattice ? 1 : nodeScale;
  const [x, y] = lattice ? at[j] : [at[j][0], at[j][1] + radius[j] * nodeScale];
  const drawn = small[content.exemplars.kind]?.(content.exemplars.data[j], j);
  return s('g', { class: 'glimpse', transform: `translate(${rounded(x - (26 * size))} ${rounded(y + (lattice ? -5 : 1))}) scale(${rounded(size)})` },
    s('rect', { class: 'plate', width: 52, height: drawn ? 29 : 11, rx: 3 }),
    s('text', { class: 'glimpse-name', x: 26, y: 7.6, 'text-anchor': 'middle' }, clipped(neuron.exemplar, 14)),
    drawn ? s('g', { transform: 'translate(4 11.5)' }, drawn) : null);
}

// Called when the view changed: cells in sight, as many as can be drawn at once.
function drawGlimpses() {
  const box = map.getBoundingClientRect();
  const scale = Math.min(box.width / view[2], box.height / view[3]);
  const legible = (lattice ? STEP * scale : 0.75 * (wholeView[2] / view[2]) * LEGIBLE / 2) >= LEGIBLE;
  const inSight = legible ? content.neurons.map((neuron) => neuron.neuron).filter((j) =>
    at[j][0] > view[0] - STEP && at[j][0] < view[0] + view[2] + STEP && at[j][1] > view[1] - STEP && at[j][1] < view[1] + view[3] + STEP) : [];
  const shown = inSight.length <= MOST_GLIMPSES ? inSight : [];
  if (detailed !== shown.length > 0) {
    detailed = shown.length > 0;
    paintCells();
  }
  glimpses.replaceChildren(...shown.flatMap(glimpse));
}
