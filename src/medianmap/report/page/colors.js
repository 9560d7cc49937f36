// Values to colours, the same as in plots: ramps of quantities, and styles of classes, which are a colour and a pattern.
const night = matchMedia('(prefers-color-scheme: dark)');
let printing = false;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return !printing && (theme ? theme === 'dark' : night.matches);
}

// One ramp for quantities, further from the page's background as values grow, in both themes.
function ramp(t) {
  const stops = content.ramps[isDark() ? 'dark' : 'light'];
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const [low, high] = [stops[k], stops[k + 1]].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const mixed = low.map((x, c) => Math.round(x + (high[c] - x) * (place - k)));
  return '#' + mixed.map((x) => x.toString(16).padStart(2, '0')).join('');
}

// Black or white, whichever is easier to read on a colour.
function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const x = parseInt(hex.slice(at, at + 2), 16) / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}

// The last two styles are of all other classes, and of points without one.
const STYLES = content.styles.length - 2;
const [OTHERS, UNLABELLED] = [STYLES, STYLES + 1];
const patternOf = (k) => content.styles[k][1];
const fillOf = (k) => (patternOf(k) === 'plain' ? content.styles[k][0] : `url(#style-${k})`);
const TILE = 6;
const MARKS = {
  stripes: () => s('path', { d: 'M-1 1L1 -1M0 6L6 0M5 7L7 5', stroke: '#000000', 'stroke-width': 1.3, 'stroke-opacity': 0.8 }),
  dots: () => s('circle', { cx: 3, cy: 3, r: 1.5, fill: '#000000', 'fill-opacity': 0.8 }),
  grid: () => s('path', { d: 'M0 0L6 6M0 6L6 0', stroke: '#ffffff', 'stroke-width': 0.9 }),
};
const patterns = () => s('defs', {}, content.styles.map(([color, pattern], k) => (pattern === 'plain' ? null
  : s('pattern', { id: `style-${k}`, width: TILE, height: TILE, patternUnits: 'userSpaceOnUse' },
    s('rect', { width: TILE, height: TILE, fill: color }), MARKS[pattern]()))));
const swatch = (k) =>
  s('svg', { class: 'swatch', viewBox: '0 0 13 13', 'aria-hidden': 'true' },
    s('rect', { x: 0.5, y: 0.5, width: 12, height: 12, rx: 3, fill: fillOf(k) }));
