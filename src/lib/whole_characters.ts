/** Text that comes in pieces, never cut inside a surrogate pair: half a character waits for the next piece. */
export class WholeCharacters {
  #half = "";

  /** What can be shown of all that has come. */
  push(piece: string): string {
    if (piece === "") return "";
    const text = this.#half === "" ? piece : this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}
