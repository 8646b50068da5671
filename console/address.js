/**
 * The address of a page of the console: which lab it shows, and how.
 *
 *     ./?lab=/lessons/ID&lesson=NAME     the lab of a lesson on a server; by its name, the lesson can be begun again
 *     ./?lesson=NAME                     a lesson that is begun when the page is opened; in a tab, the one that is played there
 *     ./?topology=NAME                   a lab in a tab, with one of the examples
 *     ./?course=NAME,NAME                the lessons of a class in its order, with any of the others
 *     ./?lab=/lessons/ID&class           a lab that a pupil of a class has taken: only the lab, without the lesson
 *     ./?lab=...&presenter               the presenter's window; with &follow a page that follows it
 */

/** A lesson's lab has the API of a lab below a path of its own. */
const LESSON_PATH = /^\/lessons\/[A-Za-z0-9_-]+$/;

/** The most letters of a course that are read from an address. */
const MOST_COURSE = 2_000;

/**
 * @typedef {object} Parts
 * @property {string} base the path of the lab on its server; "" for the server's own
 * @property {string} lesson the name of the lesson that is played in this lab, or ""
 * @property {string} topology the name of the example that a tab shows, or ""
 * @property {readonly string[]} course the names of the lessons of a class, in its order; [] if it has all
 * @property {"presenter" | "follow" | "class" | ""} role
 */

export class Address {
  /**
   * @param {Partial<Parts>} parts
   * @param {boolean} inTab whether the lab is in the browser: then the paths of lessons do not outlive the tab
   */
  constructor({ base = "", lesson = "", topology = "", course = [], role = "" }, inTab) {
    this.base = base;
    this.lesson = lesson;
    this.topology = topology;
    this.course = course;
    this.role = role;
    this.inTab = inTab;
  }

  /**
   * Read an address.
   * @param {string} search the part from "?" on
   * @param {boolean} inTab
   */
  static parse(search, inTab) {
    const values = new URLSearchParams(search);
    const base = values.get("lab") ?? "";
    return new Address(
      {
        base: LESSON_PATH.test(base) && !inTab ? base : "",
        lesson: values.get("lesson") ?? "",
        topology: values.get("topology") ?? "",
        course: [...new Set((values.get("course") ?? "").slice(0, MOST_COURSE).split(",").filter(Boolean))],
        role: values.has("presenter")
          ? "presenter"
          : values.has("follow")
            ? "follow"
            : values.has("class")
              ? "class"
              : "",
      },
      inTab,
    );
  }

  /** Return the address of the lab that serves the lessons. */
  home() {
    return new Address({ topology: this.topology, course: this.course }, this.inTab);
  }

  /**
   * Return the address of a lesson beside this one.
   * @param {string} path of the lesson's lab
   * @param {string} lesson its name
   * @param {Parts["role"]} [role]
   */
  ofLesson(path, lesson, role = "") {
    const base = path.replace(/\/$/, "");
    return new Address({ base, lesson, topology: this.topology, course: this.course, role }, this.inTab);
  }

  /** Return the address as a link from any page of the console. */
  toString() {
    const { base, lesson, topology, course, role } = this;
    const parts = [
      topology && `topology=${encodeURIComponent(topology)}`,
      base && !this.inTab && `lab=${base}`,
      lesson && `lesson=${encodeURIComponent(lesson)}`,
      course.length > 0 && `course=${course.map(encodeURIComponent).join(",")}`,
      role,
    ].filter(Boolean);
    return parts.length > 0 ? `./?${parts.join("&")}` : "./";
  }
}
