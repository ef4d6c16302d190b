/** Matches Python's fnmatch patterns: `*`, `?`, `[abc]`, `[!abc]`. Takes time proportional to both lengths. */
export const matcherOf = (pattern: string): ((name: string) => boolean) => {
  const tokens = tokensOf(pattern)
  return (name) => matchesTokens(name, tokens)
}

const matchesTokens = (name: string, tokens: readonly Token[]): boolean => {
  let at = 0
  let token = 0
  let star = -1
  let starAt = 0
  // Only the last star needs backtracking.
  while (at < name.length) {
    const current = tokens[token]
    if (current === '*') {
      star = token++
      starAt = at
    } else if (current?.(name[at] ?? '')) {
      at++
      token++
    } else if (star !== -1) {
      token = star + 1
      at = ++starAt
    } else return false
  }
  while (tokens[token] === '*') token++
  return token === tokens.length
}

type Token = '*' | ((character: string) => boolean)

const tokensOf = (pattern: string): Token[] => {
  const tokens: Token[] = []
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] ?? ''
    // A `]` right after the opening bracket belongs to the set.
    const end = character === '[' ? pattern.indexOf(']', i + (pattern[i + 1] === '!' ? 3 : 2)) : -1
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*')
    } else if (character === '?') tokens.push(() => true)
    else if (end !== -1) {
      tokens.push(setOf(pattern.slice(i + 1, end)))
      i = end
    } else tokens.push((each) => each === character)
  }
  return tokens
}

const setOf = (text: string): ((character: string) => boolean) => {
  const negated = text.startsWith('!')
  const inner = negated ? text.slice(1) : text
  const isIn = (character: string) => {
    for (let i = 0; i < inner.length; i++) {
      const from = inner[i] ?? ''
      const to = inner[i + 1] === '-' ? inner[i + 2] : undefined
      if (to === undefined ? character === from : character >= from && character <= to) return true
      if (to !== undefined) i += 2
    }
    return false
  }
  return (character) => isIn(character) !== negated
}
