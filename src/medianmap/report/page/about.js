// What the map is and how it came about: key figures, training, health of the data, settings.
function setUpHeader() {
  const shape = lattice ? (lattice.grid ? `${lattice.grid.join(' × ')} ${lattice.kind}${lattice.periodic ? ', periodic' : ''}` : `${counted(K, 'neuron')} at given distances`) : counted(K, 'prototype');
  byId('lead').textContent = `${content.map} · ${shape} · ${content.dissimilarity}`;
  const { quantization_error, mean_dissimilarity, topographic_error } = content.quality;
  const figures = [['points', content.n_points], ['neurons', K], ['without points', content.empty],
    ['mean dissimilarity to exemplar', mean_dissimilarity], ['quantization error', quantization_error]];
  if (topographic_error !== null) figures.push(['topographic error', topographic_error]);
  if (content.stress !== null) figures.push(['stress of the layout', content.stress]);
  if (content.class_names.length) figures.push(['classes', content.class_names.length]);
  byId('figures').append(...figures.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, told(value)))));
  const left = content.edges_left_out ? ` The ${whole.format(content.edges.length)} strongest of ${whole.format(content.edges.length + content.edges_left_out)} edges are drawn.` : '';
  byId('hint').textContent = `Click a neuron, or move with the arrow keys and press Enter; Ctrl with a click or x adds one, Shift with dragging a rectangle of them; Escape clears.${left}`;
  byId('footer').textContent = `Made with medianmap ${content.versions.medianmap}. This page holds all its data and asks no network for anything.`;
}

function chart(name, values, logarithmic = false) {
  const drawn = logarithmic ? values.map((value) => Math.log10(Math.max(value, 1e-12))) : values;
  const [low, high] = extent(drawn);
  const x = (k) => rounded((600 * k) / Math.max(1, values.length - 1));
  const line = drawn.map((value, k) => `${k ? 'L' : 'M'}${x(k)} ${rounded(58 - ((value - low) / (high - low)) * 54)}`);
  const [first, last] = [told(values[0]), told(values[values.length - 1])];
  return h('figure', { class: 'chart' },
    h('figcaption', {}, h('span', {}, name), h('span', {}, `${first} → ${last}`)),
    s('svg', { class: 'drawing', viewBox: '0 0 600 62', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${name}: from ${first} to ${last}` },
      s('path', { class: 'axis', d: 'M0 61H600', 'vector-effect': 'non-scaling-stroke' }), s('path', { class: 'curve', d: line.join('') })));
}

// What the measures say of the map, in words and one by one.
function setUpQuality() {
  const { order, measures, n_points_compared } = content;
  if (order) {
    byId('verdict').textContent = order.verdict;
    byId('verdict').hidden = false;
    byId('verdict').classList.add(order.reading.replace(' ', '-'));
    if (order.torn.length) {
      const box = h('input', { type: 'checkbox', id: 'show-torn' });
      box.addEventListener('change', () => { allTorn = box.checked; drawTorn(); });
      onSelect.push(drawTorn);
      drawTorn();
      const mark = s('svg', { class: 'swatch', viewBox: '-14 -10 28 14', 'aria-hidden': 'true' }, s('path', { class: 'crack', d: crackAt(0, 0) }));
      if (cracks.length) byId('verdict').after(h('p', { class: 'hint' }, mark, ` Torn here: a quarter of the points or more have their second nearest neuron elsewhere (${counted(cracks.length, 'neuron')}).`));
      const many = counted(order.torn.length, 'pair of neurons', 'pairs of neurons');
      byId('verdict').after(h('label', { class: 'switch', title: `${many} that do not touch, though they are the two nearest of some points` }, box, 'Show torn links'));
    }
  }
  const sampled = n_points_compared && n_points_compared < content.n_points
    ? h('p', { class: 'small' }, `What compares points with points is measured on ${whole.format(n_points_compared)} of them, drawn at random.`) : null;
  byId('quality').append(h('dl', { class: 'measures' }, measures.map(([name, value, meaning]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, told(value)), h('dd', { class: 'muted' }, meaning)))), ...[sampled].filter(Boolean));
}

function setUpTraining() {
  const { training } = content;
  if (!training) {
    byId('training').append(h('p', { class: 'muted' }, 'No epochs were recorded for this map.'));
    return;
  }
  const ended = training.converged ? 'it ended at a fixed point' : 'it stopped before a fixed point';
  const combined = training.combines ? ' Prototypes were combinations of the data until the last epochs, then data points, which costs some error.' : '';
  const swapped = training.swaps === null ? '' : ` ${counted(training.swaps, 'exchange')} of exemplars followed.`;
  byId('training').append(
    h('p', { class: 'muted' }, `${counted(training.quantization_error.length, 'epoch')}; ${ended}.${combined}${swapped}`),
    chart('Quantization error', training.quantization_error),
    chart(isMean ? 'Prototypes that moved' : 'Exemplars that moved', training.moved),
    ...(training.anneals ? [chart(`${training.cools ? 'Temperature' : 'Neighbourhood range σ'} (logarithmic)`, training.sigma.filter((sigma) => sigma > 0), true)] : []));
}

function setUpHealth() {
  const { health } = content;
  if (!health) {
    byId('health').append(h('p', { class: 'muted' }, 'The dissimilarities were not checked; medianmap check does that.'));
    return;
  }
  byId('health').append(
    h('p', { class: 'muted' }, health.ok ? 'A map can be made of these dissimilarities.' : 'No map should be made of these dissimilarities.'),
    ...health.findings.map((finding) => h('div', { class: 'finding' },
      h('span', { class: `level ${finding.level}` }, finding.level), h('span', {}, h('b', {}, `${finding.name}: `), finding.sentence))));
}

function setUpSettings() {
  const list = (title, values) => h('div', {}, h('h3', {}, title), h('dl', {}, Object.entries(values).map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value === null ? 'none' : String(value))))));
  const parts = [['Settings', content.settings], [`Parameters of ${content.map}`, content.parameters], ['Versions', content.versions]];
  byId('settings').append(h('div', { class: 'settings' }, parts.filter(([, values]) => Object.keys(values).length).map(([title, values]) => list(title, values))));
}
