export type DemoKind = 'job' | 'devbox' | 'snapshot' | 'axon' | 'benchmark' | 'scenario'

/** Something that the demo creates. */
export interface DemoItem {
  kind: DemoKind
  name: string
  /** Null until it exists. */
  id: string | null
  is_ready: boolean
  /** Progress of a job. */
  detail: string | null
}

/** Response of `/api/demo`. */
export interface DemoView {
  /** `unavailable`: the demo needs the console's own service. */
  state: 'unavailable' | 'none' | 'loading' | 'loaded' | 'failed' | 'removing'
  items: DemoItem[]
  /** Why loading or removing failed. */
  problem: string | null
}

/** The jobs that the demo offers to compare, baseline first. */
export const comparedJobs = (items: readonly DemoItem[]): string[] =>
  items.flatMap(({ kind, id, name, is_ready }) =>
    kind === 'job' && id !== null && is_ready && name.includes('chores') ? [id] : [],
  )
