/**
 * A lesson: its texts and questions, called beats. The server plays the lab up to the next beat; going back is time travel, because
 * each beat says how many events had happened when it was told.
 */

import { LESSON } from "./api.js";
import { effect, signal } from "./vendor/preact.js";

/**
 * @typedef {import("./store.js").Store} Store
 *
 * @typedef {object} Beat
 * @property {number} index
 * @property {"say" | "question" | "reveal" | "problem"} kind a problem: a step of the lesson has failed
 * @property {string} text
 * @property {string} at
 * @property {number} seq how many events had happened
 * @property {string[]} choices
 * @property {string | null} given
 * @property {number | null} question
 * @property {string | null} answer
 * @property {string | null} because
 * @property {string | null} notes for the presenter
 * @property {string[]} changes what people have changed in the lab until the next beat, in words after "you"
 * @property {string[]} expected of a problem: what the lesson expected and what it found, as lines
 * @property {Highlight | null} highlight
 *
 * @typedef {object} Highlight What a text speaks of.
 * @property {"map" | "matrix" | "diagram" | "folders" | null} view
 * @property {string[]} servers
 * @property {string[]} connectors
 * @property {string | null} folder by its path
 * @property {"state" | "backfill" | "queue" | "messages" | "log" | "settings" | null} table of the only server
 * @property {string | null} row the server whose row of the state table is meant
 * @property {{name: string, folder: string, object: string, numbers: string[]} | null} message
 * @property {{id: string | null} | null} mail
 *
 * @typedef {object} Lesson
 * @property {string} id
 * @property {string} name
 * @property {string} title
 * @property {string | null} introduction
 * @property {string | null} learn
 * @property {string | null} look
 * @property {"playing" | "waiting" | "finished" | "failed"} status
 * @property {Beat[]} beats
 * @property {number} beats_total
 * @property {string[] | null} failure
 * @property {{in_words: string[]} | null} verdict
 *
 * @typedef {object} Listed A lesson of the course.
 * @property {string} name
 * @property {string} heading the heading under which it is listed
 * @property {number | null} number
 * @property {string | null} level
 * @property {string | null} learn
 * @property {string} title
 * @property {number} minutes
 * @property {number} texts
 * @property {number} questions
 * @property {number} servers
 * @property {{id: string, path: string, told: number}[]} played the labs in which it is played at present
 */

export class LessonPlayer {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    /** @type {import("./vendor/preact.js").Signal<Lesson | null>} */
    this.lesson = signal(/** @type {Lesson | null} */ (null));
    /** The beat that is shown; after the last beat of a finished lesson, its end. */
    this.index = signal(0);
    /** Whether this page is the presenter's window, which has the notes. */
    this.presenting = store.address.role === "presenter";
    /** Whether this page goes on with whoever plays the lesson on. */
    this.following = signal(store.address.role !== "");
    /** Ends what `open` began. */
    this.stop = () => {};
  }

  /** Read the lesson of this lab, and show its newest beat. */
  async open() {
    this.lesson.value = await this.store.source.request(LESSON.state);
    this.show(this.store.source.live ? this.last() : 0);
    this.stop = effect(() => {
      if (this.store.clock.reading.value && this.following.value) void this.follow();
    });
  }

  /** Show the newest beat, if another page has played the lesson on. */
  async follow() {
    const { source, orders } = this.store;
    if (orders.busy.peek()) return;
    const before = this.lesson.peek();
    /** @type {Lesson} */
    const lesson = await source.request(LESSON.state).catch(() => before); // the clock says so if the lab is gone
    const same = lesson.beats.length === before?.beats.length && lesson.status === before.status;
    if (same || lesson.status === "playing" || orders.busy.peek()) return;
    this.lesson.value = lesson;
    this.show(this.last());
  }

  last() {
    const lesson = this.lesson.value;
    if (!lesson) return 0;
    const ended = lesson.status === "finished" || lesson.status === "failed";
    return lesson.beats.length - (ended ? 0 : 1);
  }

  /** @returns {Beat | undefined} */
  beat() {
    return this.lesson.value?.beats[this.index.value];
  }

  /** @param {number} index */
  show(index) {
    this.index.value = index;
    this.point();
    const beat = this.beat();
    this.store.timeline.travelTo(beat && index < this.last() ? beat.seq : null);
  }

  /** Point at what the present beat speaks of: the view, the part of the panel, and what is selected. */
  point() {
    const { store } = this;
    const pointed = this.beat()?.highlight ?? null;
    store.page.highlight.value = pointed;
    if (!pointed) return;
    const { servers, table, message, mail } = pointed;
    const folder = this.folderId(pointed.folder ?? message?.folder ?? null);
    const view = table === "messages" ? "folders" : pointed.view;
    if (view === "map" || view === "folders") store.page.view.value = view;
    if (view === "matrix") {
      store.page.view.value = "replicas";
      store.page.origins.value = folder ?? null;
    }
    if (view === "folders" && folder) {
      store.page.reader.value = { folder, server: servers[0] ?? "", beside: servers[1] ?? "" };
    }
    if (table && table !== "messages") store.page.part.value = table;
    if (mail?.id) store.page.select({ kind: "mail", id: mail.id });
    else if (message && view === "folders")
      store.page.select({ kind: "post", id: message.object, folder, server: servers[0] ?? "" });
    else if (servers.length === 1) store.page.select({ kind: "server", id: servers[0], folder });
    else if (pointed.connectors.length === 1) store.page.select({ kind: "connector", id: pointed.connectors[0] });
  }

  /**
   * Return the id of a folder, which a lesson names by its path or its id.
   * @param {string | null} name
   */
  folderId(name) {
    const folders = Object.values(this.store.timeline.history?.now.folders ?? {});
    return folders.find((folder) => folder.path === name || folder.id === name)?.id;
  }

  back() {
    if (this.index.value > 0) this.show(this.index.value - 1);
  }

  /**
   * Go to the next beat. At the newest one, let the lab play on, and then show what happened meanwhile, mail by mail.
   * @param {string} [answer] the choice that was made, if the beat is a question
   */
  async next(answer) {
    const store = this.store;
    if (!store.source.live) {
      this.replay(answer);
      return;
    }
    if (this.index.value < this.last()) {
      this.show(this.index.value + 1);
      return;
    }
    const lesson = this.lesson.value;
    if (!lesson || lesson.status !== "waiting") return;
    const step = this.index.value;
    const from = this.beat()?.seq ?? 0;
    const count = store.timeline.head.value;
    store.timeline.stayAt(from); // what happens now is played when the lab stands at the next beat
    const success = await store.orders.act("The lab plays on", async () => {
      const state = await store.source.request(LESSON.next, {
        method: "POST",
        body: answer === undefined ? { seen: step } : { seen: step, answer },
      });
      await store.timeline.reached(state.beats.at(-1)?.seq ?? count);
      this.lesson.value = state;
      this.playFrom(from, step + 1);
    });
    if (!success) store.timeline.travelTo(null);
  }

  /**
   * Show the newest beat, and play what led to it.
   * @param {number} from how many events had happened at the beat before
   * @param {number} following the index of the beat that comes next here
   */
  playFrom(from, following) {
    if (following < this.last()) {
      this.show(following); // another page has played on further
      return;
    }
    this.index.value = this.last();
    this.point();
    const { timeline } = this.store;
    timeline.play(timeline.marks.pace.after(from), this.beat()?.seq ?? timeline.head.value);
  }

  /**
   * Go to the next beat of a replay, and show what happens until then.
   * @param {string} [answer] the choice that was made, if the beat is a question
   */
  replay(answer) {
    const lesson = this.lesson.value;
    const beat = this.beat();
    if (!lesson || !beat || this.index.value >= this.last()) return;
    if (answer !== undefined) {
      const beats = lesson.beats.map((each) => (each === beat ? { ...each, given: answer } : each));
      this.lesson.value = { ...lesson, beats };
    }
    this.index.value += 1;
    this.point();
    const { timeline } = this.store;
    timeline.play(timeline.marks.pace.after(beat.seq), this.beat()?.seq ?? timeline.head.value);
  }

  /**
   * Go back to a beat: a new lab takes the place of this one, and is what this lab was at the beat. The page then begins again, as
   * after each reset of a lab.
   * @param {number} index of the beat
   */
  again(index) {
    return this.store.orders.send(`Going back to step ${index + 1}`, LESSON.again, { text: index });
  }

  /**
   * Return the beats before the one that is shown after which people have changed the lab. What the lesson tells after them may
   * not be true in this lab.
   */
  disturbed() {
    return this.lesson.value?.beats.slice(0, this.index.value).filter(({ changes }) => changes.length > 0) ?? [];
  }

  /**
   * Return the question that was answered and is not revealed yet, at the text that is shown.
   * @returns {Beat | undefined}
   */
  answered() {
    const beats = this.lesson.value?.beats.slice(0, this.index.value + 1) ?? [];
    const revealed = new Set(beats.map((beat) => beat.question));
    return beats.find((beat) => beat.given && !revealed.has(beat.index));
  }

  /**
   * Begin a lesson in a lab of its own, and go to it. If this is the lab of a lesson, that one ends.
   * @param {string} name
   */
  async begin(name) {
    const { source, address, visit } = this.store;
    if (!source.live) return;
    const path = await source.beginLesson(name);
    await this.leave();
    visit(address.ofLesson(path, name));
  }

  /** End the lesson and its lab, and go to the lab that serves it. */
  async end() {
    const { address, visit } = this.store;
    await this.leave();
    visit(address.home());
  }

  /** Ask the lab nothing more, and end the lesson, if this is the lab of one. */
  async leave() {
    const { source } = this.store;
    this.store.close();
    if (source.live && source.base && this.lesson.value) await source.endLesson();
  }
}
