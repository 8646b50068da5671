/** What lets a program draw the map of a run, moment by moment: `pflab replay` makes clips and pictures with it. */

/** The part of a step of the axis that lies between two moments when the busiest one is searched. */
const SEARCH_STEP = 0.25;

export class Stage {
  /** @param {import("./shell.js").Shell} shell */
  constructor(shell) {
    this.shell = shell;
  }

  /**
   * Show the map alone, when all events are there.
   * @returns {Promise<{first: number, last: number}>} the ends of the axis
   */
  async open() {
    const { timeline, page } = await this.store();
    document.documentElement.toggleAttribute("data-stage", true);
    page.select(null);
    page.view.value = "map";
    page.highlight.value = null;
    const { pace } = timeline.marks;
    return { first: pace.after(timeline.history?.events.first ?? 0).place, last: pace.end };
  }

  /** Return the place of an instant on the axis. @param {number} at lab time in microseconds */
  async placeOf(at) {
    const { timeline } = await this.store();
    return timeline.marks.pace.at(at).place;
  }

  /** Show the moment at a place of the axis, and wait until it is painted. @param {number} place */
  async show(place) {
    const { timeline } = await this.store();
    timeline.travel(timeline.marks.pace.moment(place), false);
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  }

  /** Return a place at which the most mails are under way: the middle of their way. @param {number} first @param {number} last */
  async busiest(first, last) {
    const { timeline } = await this.store();
    let [begin, end, most] = [last, last, 0];
    for (let place = first; place <= last; place += SEARCH_STEP) {
      const count = timeline.marks.onTheirWay(timeline.marks.pace.moment(place)).length;
      if (count > most) [begin, end, most] = [place, place, count];
      else if (count === most && place - end === SEARCH_STEP) end = place;
    }
    return (begin + end) / 2;
  }

  /** Return the store of the lab that is shown, when all events have arrived. */
  async store() {
    for (;;) {
      const { store } = this.shell;
      if (store?.failure.value) throw new Error(store.failure.value);
      if (store?.timeline.caughtUp.value) return store;
      await new Promise(requestAnimationFrame);
    }
  }
}
