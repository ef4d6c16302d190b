import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'

export type Path = readonly (string | number)[]

export interface YamlProblem {
  line: number
  column: number
  /** For example `agents[0].name`; empty for the whole file. */
  path: string
  message: string
}

export interface YamlSource {
  value: unknown
  problem(path: Path, message: string): YamlProblem
}

// Parsing time is quadratic in some of these, and it blocks the service.
const maxAliases = 100
const maxAnchors = 1000
const maxItems = 20_000
/** Merges times items: each merge copies its items. */
const maxMerged = 500_000
export const maxProblems = 100
/** Deeper than any job file, and below the parser's stack limit. */
const maxDepth = 100

/** Reads YAML as PyYAML would, or returns all its problems. */
export const readYaml = (
  text: string,
): { source: YamlSource; problems?: undefined } | { source?: undefined; problems: YamlProblem[] } => {
  const failure = (message: string) => ({ problems: [{ line: 1, column: 1, path: '', message }] })
  if (isTooDeep(text)) return failure(`The job file is nested deeper than ${maxDepth} levels`)
  const items = count(text, /[\n,]/g)
  if (items > maxItems) return failure(`The job file has more than ${maxItems} lines and items`)
  if (items * count(text, /<</g) > maxMerged)
    return failure(`The job file has ${items} lines and items, too many for its merges (<<)`)
  if (count(text, /(^|[\s,[{:-])\*[^\s*]/g) > maxAliases)
    return failure(`The job file has more than ${maxAliases} aliases`)
  if (count(text, /(^|[\s,[{:-])&[^\s&]/g) > maxAnchors)
    return failure(`The job file has more than ${maxAnchors} anchors`)
  const lines = new LineCounter()
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      // PyYAML's version: `yes` is true, and `<<` merges.
      version: '1.1',
      prettyErrors: false,
      // The parser's own check is quadratic.
      uniqueKeys: false,
    })
    // PyYAML's safe loader rejects unknown tags; this parser ignores them.
    const strangeTags = document.warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED')
    const errors = [...document.errors, ...strangeTags, ...repeatedKeys(document)]
    if (errors.length > 0)
      return {
        problems: errors.slice(0, maxProblems).map(({ pos, message }) => {
          const { line, col } = lines.linePos(pos[0])
          return { line, column: col, path: '', message: `Invalid YAML: ${message}` }
        }),
      }
    const value: unknown = document.toJS({ maxAliasCount: maxAliases })
    return {
      source: {
        value,
        problem: (path, message) => {
          const { line, col } = lines.linePos(offsetOf(document.contents, path))
          return { line, column: col, path: pathText(path), message }
        },
      },
    }
  } catch (error) {
    // A recursive or too large alias.
    return failure(`Invalid YAML: ${(error as Error).message}`)
  }
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

const repeatedKeys = (document: Document): { pos: [number]; message: string }[] => {
  const found: { pos: [number]; message: string }[] = []
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key) || key.value === '<<') continue
        if (seen.has(key.value)) found.push({ pos: [key.range?.[0] ?? 0], message: `duplicate key ${key.value}` })
        seen.add(key.value)
      }
    },
  })
  return found
}

export const pathText = (path: Path) =>
  path.reduce<string>((name, key) => (typeof key === 'number' ? `${name}[${key}]` : name ? `${name}.${key}` : key), '')

/** Position of the last key of the path that is in the text; later keys are missing or merged in. */
const offsetOf = (contents: Node | null, path: Path): number => {
  let node: unknown = contents
  let offset = contents?.range?.[0] ?? 0
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.findLast((each) => isScalar(each.key) && String(each.key.value) === String(key))
      if (!pair) break
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key]
      offset = (node as Node | undefined)?.range?.[0] ?? offset
    } else break
    // The value of an alias is elsewhere in the file.
    if (isAlias(node)) break
  }
  return offset
}

/** Counts brackets and indentation in strings, too; no real file has so many. */
const isTooDeep = (text: string): boolean => {
  if (/^ {300}|(?:[-?] +){20}/m.test(text)) return true
  let depth = 0
  for (const character of text) {
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1)
    if (depth > maxDepth) return true
  }
  return false
}
