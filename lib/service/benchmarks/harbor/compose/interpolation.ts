import type { StringMap } from '#lib/contract/common.ts'

/** Replaces `$NAME` and `${NAME…}` in all strings of a compose file; `$$` is a dollar sign. */
export const interpolate = (value: unknown, variables: StringMap, report: (problem: string) => void): unknown => {
  if (typeof value === 'string') return interpolated(value, variables, report)
  if (Array.isArray(value)) return value.map((each) => interpolate(each, variables, report))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, interpolate(each, variables, report)]))
}

const interpolated = (text: string, variables: StringMap, report: (problem: string) => void): string => {
  let result = ''
  for (let i = 0; i < text.length; ) {
    const rest = text.slice(i)
    const [plain, escaped, name = ''] = /^\$(?:(\$)|([A-Za-z_]\w*))/.exec(rest) ?? []
    const [braced, bracedName = '', operator = ''] = /^\$\{([A-Za-z_]\w*)(:?[-+?])?/.exec(rest) ?? []
    const end = braced === undefined ? -1 : closingBrace(rest)
    if (plain !== undefined) {
      result += escaped ?? variables[name] ?? ''
      i += plain.length
    } else if (braced !== undefined && end !== -1) {
      const value = variables[bracedName]
      const isSet = operator.startsWith(':') ? !!value : value !== undefined
      const given = rest.slice(braced.length, end)
      const fallback = () => interpolated(given, variables, report)
      if (operator.endsWith('+')) result += isSet ? fallback() : ''
      else if (isSet || operator === '') result += value ?? ''
      else if (operator.endsWith('-')) result += fallback()
      else report(`The variable ${bracedName} is required${given ? `: ${given}` : ''}`)
      i += end + 1
    } else {
      if (rest.startsWith('$')) report(`${text}: invalid use of $`)
      result += rest[0]
      i++
    }
  }
  return result
}

/** The index of the brace that closes the first one. */
const closingBrace = (text: string): number => {
  let open = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') open++
    else if (text[i] === '}' && --open === 0) return i
  }
  return -1
}
