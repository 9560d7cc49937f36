// Search: every id on the page, in any case, anywhere inside it.
const MOST_FOUND = 24;
const search = byId('search');
let haystack = null;

function allIds() {
  haystack ??= content.members.map(({ ids, others }) => [...ids, ...others].map((id) => [id, id.toLowerCase()]));
  return haystack;
}

function find() {
  const wanted = search.value.trim().toLowerCase();
  const found = [];
  let n = 0;
  const neurons = new Set();
  if (wanted) {
    allIds().forEach((ids, j) => ids.forEach(([id, lower]) => {
      if (!lower.includes(wanted)) return;
      n += 1;
      neurons.add(j);
      if (found.length < MOST_FOUND) found.push([id, j]);
    }));
    content.neurons.forEach((neuron, j) => { // an exemplar may be no member of the data at hand
      if (neuron.exemplar !== null && neuron.exemplar.toLowerCase().includes(wanted)) neurons.add(j);
    });
  }
  map.classList.toggle('searching', neurons.size > 0);
  for (const cell of map.querySelectorAll('.found')) cell.classList.remove('found');
  for (const j of neurons) cells[j].classList.add('found');
  marks.replaceChildren(...[...neurons].map((j) => s('path', { class: 'over match', d: outline(j, lattice ? -2 : 3) })));
  byId('found').replaceChildren(...found.map(([id, j]) =>
    h('li', {}, button(named(id), () => select(j), { title: `neuron ${j}` }))));
  byId('found-count').textContent = !wanted ? '' : toldFound(n, neurons.size, found.length);
}

function toldFound(n, neurons, shown) {
  const partly = content.listed.n_searchable < content.n_points
    ? ` (searched the ${whole.format(content.listed.n_searchable)} of ${whole.format(content.n_points)} ids on this page; assignments.tsv has all)` : '';
  if (!n && !neurons) return `No id found${partly}.`;
  return `${counted(n, 'id')} at ${counted(neurons, 'neuron')}${n > shown ? `, the first ${shown} of them:` : ''}${partly}`;
}

let waiting = null;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, 80);
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    search.value = '';
    find();
  }
  if (event.key === 'Enter') {
    find();
    byId('found').querySelector('button')?.click();
  }
});
