'use strict';
// Places in the source: frames of locations, those of the user's files before those of installed packages.

const INSTALLED = /[\\/](site|dist)-packages[\\/]/;
const framesOfLocation = new Map();

/** Returns the frames of a location, innermost first. */
function framesOf(location) {
  if (!framesOfLocation.has(location)) {
    framesOfLocation.set(location, location.split(' called from ').map((text) => {
      const match = /^(.*):(\d+):(\d+)$/.exec(text);
      return { text, file: match ? match[1] : '', line: match ? Number(match[2]) : 0, isInstalled: INSTALLED.test(text) };
    }));
  }
  return framesOfLocation.get(location);
}

/** Returns the frames of the user's files, innermost first, and behind them those of installed packages. */
function framesByInterest(location) {
  const frames = framesOf(location);
  return [...frames.filter((frame) => !frame.isInstalled), ...frames.filter((frame) => frame.isInstalled)];
}

const frameText = (frame) => (frame.file ? `${frame.file}:${frame.line}` : frame.text);

/** Returns a place as an element that is cut at its left: the name of the file and the line stay. */
function placeElement(location) {
  const element = make('span', 'place', make('bdi', '', frameText(framesByInterest(location)[0])));
  element.title = location.split(' called from ').join('\ncalled from ');
  return element;
}

/** Returns the frames of a location as a list, with those of installed packages folded. */
function frameList(location) {
  const runs = [];
  for (const frame of framesOf(location)) {
    const last = runs[runs.length - 1];
    if (last && last.isInstalled === frame.isInstalled) last.frames.push(frame);
    else runs.push({ isInstalled: frame.isInstalled, frames: [frame] });
  }
  const lines = (frames) => frames.map((frame) => make('div', 'frame', frame.text));
  const isFoldable = runs.some((run) => !run.isInstalled);
  return make('div', 'frames', runs.map(({ isInstalled, frames }) => (isInstalled && isFoldable
    ? make('details', '', make('summary', 'dim', `${plural(frames.length, 'frame')} of installed packages`), lines(frames))
    : lines(frames))));
}
