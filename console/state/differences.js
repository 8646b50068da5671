/**
 * Which words of a text are not in another one: a longest common subsequence of words, so that two versions of a post can be
 * shown side by side with their differences marked.
 */

/**
 * @typedef {object} Piece
 * @property {string} text
 * @property {boolean} differs the other text does not have it here
 */

/** The most words on each side that are compared one by one. In longer texts everything between the equal ends differs. */
const MOST_WORDS = 1_500;

/**
 * Return the pieces of `text`. Together they are the whole text, and those that `other` does not have are marked.
 * @param {string} text
 * @param {string} other
 * @returns {Piece[]}
 */
export function differences(text, other) {
  const words = split(text);
  const others = split(other);
  let start = 0;
  while (start < words.length && start < others.length && words[start] === others[start]) start++;
  let end = 0;
  while (
    end < words.length - start &&
    end < others.length - start &&
    words[words.length - 1 - end] === others[others.length - 1 - end]
  ) {
    end++;
  }
  const common = inBoth(words.slice(start, words.length - end), others.slice(start, others.length - end));
  /** @type {Piece[]} */
  const pieces = [];
  words.forEach((word, index) => {
    const differs = index >= start && index < words.length - end && !common[index - start];
    const last = pieces.at(-1);
    if (last && last.differs === differs) last.text += word;
    else pieces.push({ text: word, differs });
  });
  return pieces;
}

/** Words and the spaces between them. @param {string} text */
const split = (text) => text.match(/\s+|[^\s]+/g) ?? [];

/**
 * Return for each word whether it belongs to the longest common subsequence.
 * @param {string[]} words
 * @param {string[]} others
 * @returns {boolean[]}
 */
function inBoth(words, others) {
  const marks = words.map(() => false);
  if (words.length > MOST_WORDS || others.length > MOST_WORDS) return marks;
  const width = others.length + 1;
  // lengths[i * width + j]: how many words the ends of both, from i and j on, have in common
  const lengths = new Uint16Array((words.length + 1) * width);
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        words[i] === others[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < words.length && j < others.length;) {
    if (words[i] === others[j]) {
      marks[i] = true;
      i++;
      j++;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return marks;
}
