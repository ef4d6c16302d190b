import type { PaneTree, SplitWay } from './layout.ts'

/** Percents of the room all panes of a tab share. */
export interface Area {
  left: number
  top: number
  width: number
  height: number
}

export interface PlacedPane extends Area {
  name: string
}

/** The line between two parts of a split, which moves room from one to the other. */
export interface PlacedSeparator {
  /** Of the split: the places of parts from the root down. */
  path: readonly number[]
  /** It stands after this part. */
  after: number
  way: SplitWay
  /** Of the whole split. */
  area: Area
  /** Where in the split it stands, in percent. */
  at: number
  shares: readonly number[]
  /** The panes right before and after it, to be named by. */
  between: readonly [string, string]
}

const whole: Area = { left: 0, top: 0, width: 100, height: 100 }

/** Where the panes of a tab stand, in reading order, and the lines between them. */
export const placeTree = (
  tree: PaneTree,
  area: Area = whole,
  path: readonly number[] = [],
): { panes: PlacedPane[]; separators: PlacedSeparator[] } => {
  if (typeof tree === 'string') return { panes: [{ name: tree, ...area }], separators: [] }
  const { way, parts } = tree
  const shares = parts.map(({ share }) => share)
  const panes: PlacedPane[] = []
  const separators: PlacedSeparator[] = []
  let at = 0
  for (const [index, { tree: inner, share }] of parts.entries()) {
    const placed = placeTree(inner, part(area, way, at, share), [...path, index])
    const before = panes.at(-1)
    const next = placed.panes[0]
    if (before && next)
      separators.push({ path, after: index - 1, way, area, at, shares, between: [before.name, next.name] })
    panes.push(...placed.panes)
    separators.push(...placed.separators)
    at += share
  }
  return { panes, separators }
}

const part = ({ left, top, width, height }: Area, way: SplitWay, at: number, share: number): Area =>
  way === 'right'
    ? { left: left + (width * at) / 100, top, width: (width * share) / 100, height }
    : { left, top: top + (height * at) / 100, width, height: (height * share) / 100 }

/** The shares after the line behind part `after` was moved to `at` percent, with at least `least` for its two neighbours. */
export const moveLine = (shares: readonly number[], after: number, at: number, least: number): number[] => {
  const before = shares.slice(0, after).reduce((sum, share) => sum + share, 0)
  const both = (shares[after] as number) + (shares[after + 1] as number)
  // Where not even both have their least, they share evenly.
  const floor = Math.min(least, both / 2)
  const first = Math.round(Math.min(both - floor, Math.max(floor, at - before)))
  return shares.map((share, index) => (index === after ? first : index === after + 1 ? both - first : share))
}

export type Direction = 'left' | 'right' | 'up' | 'down'

const opposite = { left: 'right', right: 'left', up: 'down', down: 'up' } as const

const edgesOf = ({ left, top, width, height }: Area) => ({ left, right: left + width, up: top, down: top + height })

/** The pane next to `name` in a direction: of those that touch it, the one across from its middle. */
export const neighbourOf = (panes: readonly PlacedPane[], name: string, direction: Direction): string | undefined => {
  const from = panes.find((pane) => pane.name === name)
  if (!from) return undefined
  const isAside = direction === 'left' || direction === 'right'
  const middle = isAside ? from.top + from.height / 2 : from.left + from.width / 2
  const edge = edgesOf(from)[direction]
  const touching = panes.filter((pane) => Math.abs(edgesOf(pane)[opposite[direction]] - edge) < 0.01)
  const away = (pane: PlacedPane) => {
    const [start, size] = isAside ? [pane.top, pane.height] : [pane.left, pane.width]
    return Math.max(start - middle, middle - (start + size), 0)
  }
  return touching.sort((a, b) => away(a) - away(b))[0]?.name
}
