import 'node:sqlite'

/** In the pinned Node, not yet in its types. */
declare module 'node:sqlite' {
  interface DatabaseSyncOptions {
    limits?: Record<string, number>
  }
  interface DatabaseSync {
    readonly limits: { length: number }
    setAuthorizer(
      decide: (code: number, first: string | null, second: string | null, schema: string | null) => number,
    ): void
  }
}
