// Several neurons at once: by a rectangle or a lasso, or one by one with Ctrl; their members as TSV and FASTA.
const picked = new Set();
const onPick = [];
const highlighted = () => (picked.size ? picked : new Set(selected === null ? [] : [selected]));

function pick(neurons) {
  select(null);
  picked.clear();
  for (const j of neurons) picked.add(j);
  showPicks();
}
function showPicks() {
  picks.setAttribute('d', [...picked].map((j) => outline(j, lattice ? -1 : 2)).join(''));
  cells.forEach((cell, j) => cell.setAttribute('aria-selected', String(picked.has(j) || j === selected)));
  onPick.forEach((action) => action());
}
function toggle(j) {
  const next = new Set(highlighted());
  if (!next.delete(j)) next.add(j);
  pick(next);
}
function clearAll() {
  picked.clear();
  select(null);
}
onSelect.push((j) => {
  if (j !== null) picked.clear();
  showPicks();
});

map.addEventListener('click', (event) => {
  if (!(event.ctrlKey || event.metaKey) || !cellAt(event)) return;
  event.stopImmediatePropagation();
  toggle(Number(cellAt(event).dataset.neuron));
}, true);
Object.assign(keys, { x: () => toggle(current) });

function setUpSelection() {
  regionsOf(map, placeOf, (corners) => pick(at.flatMap((place, j) => (inside(place, corners) ? [j] : []))));
  document.querySelector('.zoom').before(h('div', { class: 'tools', role: 'group', 'aria-label': 'Select several neurons' }, regionTools()));
}

// --- members as files ---

const whereOf = (j) => ['layer', 'row', 'column'].filter((name) => name in content.neurons[j]).map((name) => [name, content.neurons[j][name]]);
const sorted_ = (neurons) => [...neurons].sort((a, b) => a - b);
const classOf = (j, k) => content.class_names[content.members[j].classes?.[k]];

function memberLines(neurons) {
  const labelled = content.class_names.length > 0;
  const head = ['id', 'neuron', 'dissimilarity', ...(labelled ? ['class'] : []), ...content.columns.map(({ name }) => name)];
  const lines = sorted_(neurons).flatMap((j) => content.members[j].ids.map((id, k) => tsvLine([id, j, content.members[j].dissimilarities[k],
    ...(labelled ? [classOf(j, k)] : []), ...content.columns.map(({ values }, c) => values[content.members[j].columns[c][k]])])));
  return [tsvLine(head), ...lines];
}

// Sequences of the members; where the page holds none of them, of the exemplars.
const hasTexts = content.members.every(({ texts }) => texts);
const isFasta = content.exemplars.kind === 'sequence';
function fastaLines(neurons) {
  const record = (id, j, more, text) => [`>${field(id)} ${[['neuron', j], ...whereOf(j), ...more].map(([name, value]) => `${name}=${field(value)}`).join(' ')}`, ...text.match(/.{1,60}/g) ?? []];
  return sorted_(neurons).flatMap((j) => (hasTexts
    ? content.members[j].texts.flatMap((text, k) => record(content.members[j].ids[k], j, classOf(j, k) ? [['class', classOf(j, k)]] : [], text))
    : record(content.neurons[j].exemplar ?? `neuron ${j}`, j, [['hits', content.neurons[j].hits]], content.exemplars.data[j].text)));
}
const downloadsOf = (neurons) => h('div', { class: 'downloads' },
  button('Members as TSV', () => download('members.tsv', memberLines(neurons)), { id: 'members-tsv' }),
  isFasta ? button(hasTexts ? 'Members as FASTA' : 'Exemplars as FASTA', () => download(hasTexts ? 'members.fasta' : 'exemplars.fasta', fastaLines(neurons), 'text/x-fasta'), { id: 'members-fasta' }) : null,
  content.listed.complete ? null : h('span', { class: 'small' }, 'of the members listed on this page; assignments.tsv has all'));
