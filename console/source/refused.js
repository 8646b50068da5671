/** An answer that tells what the user did wrong, or what the lab cannot do now. Status 0: nothing answers. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}
