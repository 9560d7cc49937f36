// The present view as a picture for a slide: the map as it is seen, with its heading and legend, as SVG or PNG.
const ACROSS = 1280; // units of the picture; a PNG has twice as many pixels
const STYLED = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linecap', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline'];
const DEFAULTS = { 'fill-opacity': '1', 'stroke-opacity': '1', 'stroke-dasharray': 'none', 'stroke-linecap': 'butt', opacity: '1', stroke: 'none', 'dominant-baseline': 'auto' };

// A copy that carries as attributes what the page's style gives; what is not shown is left out.
function styled(element) {
  const copy = element.cloneNode(false);
  for (const { name } of [...copy.attributes]) if (/^(class|role|tabindex|aria-.*|data-.*)$/.test(name) || (name === 'id' && !element.closest('defs'))) copy.removeAttribute(name);
  if (!element.closest('defs') && element.tagName !== 'title') {
    const style = getComputedStyle(element);
    if (style.display === 'none') return null;
    const isText = element.tagName === 'text';
    for (const name of STYLED) {
      if (!isText && /^(font|text|dominant)/.test(name)) continue;
      const value = style.getPropertyValue(name);
      if (value && value !== DEFAULTS[name]) copy.setAttribute(name, value);
    }
    if (style.getPropertyValue('vector-effect') !== 'none') copy.setAttribute('vector-effect', style.getPropertyValue('vector-effect'));
  }
  copy.append(...[...element.childNodes].map((child) => (child.nodeType === Node.TEXT_NODE ? child.cloneNode() : styled(child))).filter(Boolean));
  return copy;
}

function picture() {
  const [card, ink, muted] = ['--card', '--text', '--muted'].map((name) => {
    const probe = h('i', { class: `probe${name}` });
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  });
  const font = getComputedStyle(document.body).fontFamily;
  const measure = document.createElement('canvas').getContext('2d');
  const text = (x, y, size, words, fill, more = {}) => s('text', { x, y, 'font-family': font, 'font-size': size, fill, ...more }, words);
  const high = Math.round((ACROSS - 80) * Math.min(view[3] / view[2], 1.1));
  const drawn = styled(map);
  for (const [name, value] of Object.entries({ x: 40, y: 110, width: ACROSS - 80, height: high, viewBox: view.map(rounded).join(' '), overflow: 'hidden' })) drawn.setAttribute(name, value);
  const parts = [text(40, 56, 30, content.title, ink, { 'font-weight': 650 }), text(40, 90, 18, coloring.label, muted), drawn];
  let [x, y] = [40, high + 150];
  const entry = (style, words) => {
    measure.font = `18px ${font}`;
    const wide = 26 + measure.measureText(words).width + 26;
    if (x + wide > ACROSS - 40 && x > 40) [x, y] = [40, y + 30];
    parts.push(s('rect', { x, y: y - 15, width: 18, height: 18, rx: 4, fill: fillOf(style) }), text(x + 26, y, 18, words, ink));
    x += wide;
  };
  if (coloring.quantity) {
    for (let k = 0; k < 60; k++) parts.push(s('rect', { x: 40 + 5 * k, y: y - 14, width: 5.2, height: 16, fill: ramp(coloring.root ? Math.sqrt(k / 59) : k / 59) }));
    parts.push(text(40, y + 24, 18, endOf(coloring, coloring.low), ink), text(340, y + 24, 18, endOf(coloring, coloring.high), ink, { 'text-anchor': 'end' }));
    y += 24;
  } else if (coloring.classes) {
    const { column, top, bySize, chosen } = coloring;
    const shown = chosen.size ? [...chosen].sort((a, b) => a - b) : top;
    shown.forEach((code) => entry(coloring.styleOf(code), column.values[code]));
    if (chosen.size) entry(UNLABELLED, 'other points');
    else if (bySize.length > top.length) entry(OTHERS, counted(bySize.length - top.length, 'other class', 'other classes'));
  } else coloring.keys.forEach(([name, style]) => entry(style, name));
  const tall = y + 40;
  return s('svg', { xmlns: 'http://www.w3.org/2000/svg', width: ACROSS, height: tall, viewBox: `0 0 ${ACROSS} ${tall}` },
    s('rect', { width: ACROSS, height: tall, fill: card }), parts);
}

const pictureText = () => new XMLSerializer().serializeToString(picture());
const saveSvg = () => save('map.svg', new Blob([pictureText()], { type: 'image/svg+xml' }));
async function savePng() {
  const drawn = picture();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawn))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * drawn.getAttribute('width'), 2 * drawn.getAttribute('height')];
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save('map.png', blob));
}
function setUpPictures() {
  document.querySelector('.zoom').after(h('div', { class: 'tools', role: 'group', 'aria-label': 'Save this view' },
    button('SVG', saveSvg, { id: 'save-svg', title: 'Save this view as SVG' }), button('PNG', savePng, { id: 'save-png', title: 'Save this view as PNG' })));
}
