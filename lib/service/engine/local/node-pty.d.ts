declare module '@lydell/node-pty/requireBinary.js' {
  export function requireBinary(file: 'pty.node'): {
    /** Non-blocking descriptors that child processes inherit. */
    open(cols: number, rows: number): { master: number; slave: number }
    resize(master: number, cols: number, rows: number): void
  }
}
