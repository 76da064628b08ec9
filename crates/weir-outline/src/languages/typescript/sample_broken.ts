/** A file in the middle of an edit. */
export interface Options {
  depth: number;
  path: string;
}

export class Reader {
  open(path: string): void {
    if (path) {
      this.path = path;
  }

  read(): string {
    return "";
  }
}

export function half(a: number, b

export const after = (x: number): number => x + 1;

export function last(): void {}
