/** What the package's own classes are made of; it has no types for it. */
declare module '@lydell/node-pty/requireBinary.js' {
  export function requireBinary(file: 'pty.node'): {
    /** Descriptors that do not block and stay open in child processes. */
    open(cols: number, rows: number): { master: number; slave: number }
    resize(master: number, cols: number, rows: number): void
  }
}
