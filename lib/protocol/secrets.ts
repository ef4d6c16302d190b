import { mask } from './mask.ts'

/** The console's server masks likely secrets of a job in every response. When in doubt, the rules mask. */

/** Splits `OPENAI_API_KEY`, `dbPassword2` or `x-auth-token` into words without trailing digits. */
const wordsOf = (name: string): string[] =>
  name
    .slice(-128)
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''))

const secretWord =
  /^(key|token|secret|password|passwd|pwd|pass|pw|passphrase|passcode|pin|otp|credential|cred|auth|authorization|bearer|cookie|csrf|xsrf|private|dsn|jwt|pat|sk|mnemonic|webhook|signature|sig|hmac|salt)s?$/
const secretEnding =
  /(password|passwd|passphrase|passcode|secret|token|apikey|accesskey|secretkey|privatekey|credential)s?$/
const personalWord = /^(\w*(password|passwd|passphrase|passcode|secret)|pwd|pass|pw|pin|otp)$/
const placeWord = /^(file|path|dir|env|type|ttl)$/

/** Fast check: every secret name contains one of these. */
const secretPart =
  /key|token|secret|pass|p(?:w|in|at)|otp|cred|auth|bearer|cookie|[cx]srf|private|dsn|jwt|sk|mnemonic|webhook|sig|hmac|salt|[^ -~]/i

const isSecretName = (name: string): boolean =>
  secretPart.test(name) && wordsOf(name).some((word) => secretWord.test(word) || secretEnding.test(word))

/** `${API_KEY}`, `$API_KEY`, `{{ secrets.KEY }}` */
const reference = /^(\$\{\w+(:-)?\}|\$[A-Z_][A-Z0-9_]*|(\$)?\{\{[^{}]*\}\})$/

/** Whether the value is harmless despite its secret name: a token count, a flag, a key file's path. */
const isPlain = (name: string, value: string): boolean => {
  if (/^(true|false|null|~|none|)$/i.test(value) || reference.test(value)) return true
  const words = wordsOf(name)
  if (/^-?[\d._]+$/.test(value))
    return !words.some((word) => personalWord.test(word)) && (value.length < 6 || words.includes('tokens'))
  if (/^(OLD)?PWD$/.test(name)) return value.startsWith('/')
  return placeWord.test(words.at(-1) ?? '') && (/^[~.]?\.?\//.test(value) || /^[A-Z][A-Z0-9_]*$/.test(value))
}

/** Key formats of known issuers. */
const issued = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    '(?:[srap]k|rk)[-_][\\w-]{6,512}',
    '(?:gh[pousr]|npm|hf|r8|gsk|shp(?:at|ss|ca|pa)|lin_api|dckr_pat|github_pat|glsa|whsec|sntrys|tfp|pul|fly|dp\\.pt|sq0\\w{3}|ya29|SG|hvs|hvb|rnd|secret|key|token)[_.][\\w.-]{6,512}',
    '(?:glpat|pypi|xox[abeoprs]|xapp|xai|nvapi|tskey|dapi|dop_v1|AGE-SECRET-KEY)[-_][\\w-]{6,512}',
    '(?:AKIA|ASIA|AGPA|AIDA|AROA)\\w{4,64}',
    'AIza[\\w-]{10,64}',
    'eyJ[\\w-]{8,4096}\\.[\\w.-]{0,8192}',
  ].join('|')})`,
  'g',
)

const urlPassword = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/"']{0,256}):[^\s"'<>]{1,256}@/gi
/** Git hosts accept a key as the user name. */
const urlUser = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s:@/"']{1,512}(?=:(?:x-oauth-basic|x-access-token)?@)/gi
const urlToken = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s:@/"']{16,512}@/gi
const webhook =
  /\b(hooks\.slack\.com\/\w{1,20}|discord(?:app)?\.com\/api\/webhooks|\w{1,60}\.webhook\.office\.com)\/[^\s"']{1,512}/gi
const bearer = /\b(Bearer|Token)([ \t]+)(?=[^\s"']*[\d_.~+/=-])[^\s"',]{6,4096}/gi
const basic = /\b(Basic[ \t]+)(?=[\w+/]*[\d+/=A-Z])[A-Za-z0-9+/]{8,1024}={0,2}/g
/** `curl -u me:…`; below also `me:…@tcp(host)` and `login me password …`. */
const userPassword = /(?<![\w-])((?:-u|--user|--proxy-user|-U)[ \t=]{1,4}["']?[^\s:"']{1,100}:)(?!\d+\b)[^\s"']{1,256}/g
const attachedPassword =
  /(?<![\w-])((?:mysql|mariadb)[\w-]{0,20}[ \t][^\n;|&]{0,200}?(?<=[ \t])-p|sshpass[ \t]+-p[ \t]*)(?=\S)["']?[^\s"']{1,256}/g
const dialPassword = /(?<![^\s:@/"'])([^\s:@/"']{1,100}:)[^\s@"']{1,128}(?=@(?:tcp|unix)\()/g
const loginPassword = /\b(login[ \t]+\S{1,256}[ \t]+password[ \t]+)\S{1,1024}/g
const telegram = /(?<!\w)\d{8,10}:[\w-]{35}(?!\w)/g
const element = /<([A-Za-z][\w.-]{0,60})>([^<\n]{1,4096})(?=<\/\1>)/g
/** Name and separator of `name: value`, `"name": "value"` or `--name=value`; `pairValue` matches the value after it. */
const pairName = /(?<![\w.$-])(\\{0,7}["']|)-{0,2}([A-Za-z_$][\w.-]{0,100})\1\]?[ \t]{0,8}[:=]{1,3}>?[ \t]{0,8}/g
const pairValue =
  /\$?\{\{[^{}\n]{0,100}\}\}|\$\{[^}\n]{0,100}\}|\\{1,7}"[^"\n]{0,4096}"|"(?:[^"\\\n]|\\.){0,4096}"|'[^'\n]{0,4096}'|[^\s,;&}\])"']{1,4096}/y
/** `{name: API_KEY, value: …}`, `<add name="API_KEY" value="…"/>`, in either order. */
const separator = '(?:[ \\t]{0,8},[ \\t]{0,8}|[ \\t]{1,8})'
const naming = `["']?\\b(?:name|key|variable|var)["']?[ \\t]{0,8}[:=][ \\t]{0,8}\\\\{0,7}["']?([\\w.-]{1,100})\\\\{0,7}["']?`
const valued = `["']?\\b(?:value|val|default)["']?[ \\t]{0,8}[:=][ \\t]{0,8}`
// Lookahead plus backreference prevents backtracking, which would take seconds on long texts.
const anyValue = `(?=(?<value>\\\\{1,7}"[^"\\n]{0,4096}"|"[^"\\n]{0,4096}"|'[^'\\n]{0,4096}'|[^\\s,}\\]"']{1,1024}))\\k<value>`
const namedValue = new RegExp(`(${naming}${separator}${valued})${anyValue}`, 'gi')
const valueNamed = new RegExp(`(${valued})${anyValue}(?=${separator}${naming})`, 'gi')
/** `--name value`, `"--name", "value"`. */
const flag = /(["']?)(--?[A-Za-z][\w-]{1,60})(["']?(?:[ \t]{0,4},[ \t]{0,4}|[ \t]{1,4}))(["']?)([^\s,"'\]]{1,4096})\4/g
const run = /[A-Za-z0-9+/=]{20,4096}/g

/** Applied in order; `maskingText` yields between them. */
const passes: ((text: string) => string)[] = [
  (text) => maskKeys(text),
  (text) =>
    text
      .replace(namedValue, (found, lead: string, name: string, value: string) => maskedAs(name, value, lead) ?? found)
      .replace(valueNamed, (found, lead: string, value: string, name: string) => maskedAs(name, value, lead) ?? found),
  (text) => text.replace(urlUser, `$1${mask}`),
  (text) => text.replace(urlPassword, `$1:${mask}@`),
  (text) => text.replace(urlToken, `$1${mask}@`),
  (text) => text.replace(userPassword, `$1${mask}`).replace(attachedPassword, `$1${mask}`),
  (text) => text.replace(dialPassword, `$1${mask}`),
  (text) => text.replace(loginPassword, `$1${mask}`).replace(telegram, mask),
  (text) =>
    text.replace(element, (found, name: string, value: string) => (isHidden(name, value) ? `<${name}>${mask}` : found)),
  (text) => text.replace(webhook, `$1/${mask}`).replace(bearer, `$1$2${mask}`).replace(basic, `$1${mask}`),
  (text) => maskPairs(text),
  (text) =>
    text.replace(flag, (found, open: string, name: string, gap: string, quote: string, value: string) =>
      isHidden(name, value) && !value.startsWith('-') ? `${open}${name}${gap}${quote}${mask}${quote}` : found,
    ),
  (text) =>
    text
      .replace(issued, (found, at: number, all: string) => (isModelValue(all, at) ? found : mask))
      .replace(run, (found, at: number, all: string) =>
        (found.split('/').some(isRandom) || isRandom(found)) && !isModelValue(all, at) ? mask : found,
      ),
]

/** Masks parts that look secret by their format or by the name before them. */
export const maskText = (text: string): string => passes.reduce((masked, pass) => pass(masked), text)

function* maskingText(text: string): Generator<void, string> {
  let masked = text
  for (const pass of passes) {
    masked = pass(masked)
    yield
  }
  return masked
}

const maskPairs = (text: string): string => {
  let masked = ''
  let at = 0
  for (const { 0: found, 2: name = '', index } of text.matchAll(pairName)) {
    const start = index + found.length
    if (index < at || !isSecretName(name)) continue
    pairValue.lastIndex = start
    const [value] = pairValue.exec(text) ?? []
    if (value === undefined) continue
    const { quote, bare } = unquoted(value)
    if (isPlain(name, bare)) continue
    masked += `${text.slice(at, start)}${quote}${mask}${quote}`
    at = start + value.length
  }
  return masked + text.slice(at)
}

const unquoted = (value: string): { quote: string; bare: string } => {
  const [, quote = '', bare = value] = /^(\\{0,7}["'])(.*)\1$/s.exec(value) ?? []
  return { quote, bare }
}

const maskedAs = (name: string, value: string, lead: string): string | undefined => {
  const { quote, bare } = unquoted(value)
  return isHidden(name, bare) ? `${lead}${quote}${mask}${quote}` : undefined
}

const isHidden = (name: string, value: string): boolean => isSecretName(name) && !isPlain(name, value)

/** Long hexadecimal numbers, and text that alternates between letters and digits too often for words. */
const isRandom = (text: string): boolean => {
  if (/^[0-9a-f]{32,}$/i.test(text) && /\d/.test(text) && /[a-f]/i.test(text)) return true
  if (text.length < 20 || text.split('/').length > 3) return false
  const kinds = [...text].map((char) => (/\d/.test(char) ? 'd' : /[A-Z]/.test(char) ? 'u' : 'l'))
  const changes = kinds.filter((kind, i) => i > 0 && kind !== kinds[i - 1]).length
  const digits = kinds.filter((kind) => kind === 'd').length
  return digits >= 2 && changes / text.length > 0.35
}

/** Model names look random too, but jobs are compared by them. */
const isModelName = (name: string): boolean => /(^|[._])(model|model_name|image)$/i.test(name)

/** Whether position `at` is inside the value of a line that names a model. */
const isModelValue = (text: string, at: number): boolean => {
  const before = text.slice(Math.max(0, at - 200), at)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return /^[\s-]*["']?([\w.]{0,40}[._])?(model|model_name|image)["']?[ \t]*[:=][ \t]*["']?[^\s"',:]*$/i.test(line)
}

function* maskingValue(name: string, value: unknown, isUnderSecret: boolean): Generator<void, unknown> {
  const hides = isUnderSecret || isSecretName(name)
  if (Array.isArray(value)) {
    const masked: unknown[] = []
    for (const [i, each] of value.entries()) {
      const before = value[i - 1]
      const isName = typeof before === 'string' && (/^--?[A-Za-z][\w-]*$/.test(before) || value.length === 2)
      const isFlagged = isName && typeof each === 'string'
      masked.push(yield* maskingValue(isFlagged && !each.startsWith('-') ? before : name, each, isUnderSecret))
    }
    return masked
  }
  if (typeof value === 'object' && value !== null) {
    const { name: named, key: keyed } = value as { name?: unknown; key?: unknown }
    const under = [named, keyed].find((each) => typeof each === 'string')
    const masked: [string, unknown][] = []
    for (const [field, each] of Object.entries(value)) {
      // `{ name: 'API_KEY', value: '…' }`
      const isValue = /^(value|val|default)$/i.test(field) && typeof under === 'string'
      const isName = field === 'name' || field === 'key'
      const isNaming = field === 'key' && typeof each === 'string' && 'value' in value
      const known = isValue ? under : isNaming ? '' : field
      masked.push([field, yield* maskingValue(known, each, !isValue && isName ? isUnderSecret : hides)])
    }
    return Object.fromEntries(masked)
  }
  yield
  if (typeof value === 'number') return hides && !isPlain(name, String(value)) ? mask : value
  if (typeof value !== 'string') return value
  if (hides && !isPlain(name, value)) return mask
  if (isModelName(name) || reference.test(value)) return value
  return yield* value.includes('\n') ? maskingYaml(value) : maskingText(value)
}

const configured = /^(kwargs|environment_variables)$/

/** Masks `kwargs`, `environment_variables` and `inline_yaml` at any depth of a record; names of stored secrets stay. */
export function* maskingRecord(record: unknown): Generator<void, unknown> {
  if (typeof record !== 'object' || record === null) return record
  yield
  if (Array.isArray(record)) {
    const masked: unknown[] = []
    for (const each of record) masked.push(yield* maskingRecord(each))
    return masked
  }
  const masked: [string, unknown][] = []
  for (const [field, value] of Object.entries(record)) {
    if (field === 'inline_yaml' && typeof value === 'string') masked.push([field, yield* maskingYaml(value)])
    else masked.push([field, yield* configured.test(field) ? maskingValue('', value, false) : maskingRecord(value)])
  }
  return Object.fromEntries(masked)
}

const keyLine =
  /^(\s*(?:[-?]\s+)*)(["']?)((?<=["'])[^"'\n]{1,100}|[\w.$@/[\]\uFF00-\uFF5E-]+)\2(\s*:(?:\s+|$)|\s*=\s*)(.*)$/
const itemLine = /^(\s*-\s+)(.*)$/

/** Text rules match within one line, except for private keys. */
const linesPerBatch = 200

/** Masks secret values in YAML and keeps its lines, comments and layout. */
export function* maskingYaml(yaml: string): Generator<void, string> {
  /** The key whose value is being masked; deeper lines belong to it. */
  let hidden: { column: number; isText: boolean } | undefined
  /** `- name: API_KEY`, whose value follows as `value`. */
  let named: { name: string; column: number } | undefined
  let flagged: string | undefined
  const all = maskKeys(yaml).split('\n')
  const hide = (line: string, at: number): string => {
    const indent = /^\s*/.exec(line)?.[0].length ?? 0
    if (line.trim() === '') return line
    if (hidden) {
      const isItem = !hidden.isText && indent === hidden.column && /^\s*-(\s|$)/.test(line)
      if (indent > hidden.column || isItem) return hideLine(line, hidden.isText)
      hidden = undefined
    }
    const item = itemLine.exec(line)
    const before = flagged
    flagged = undefined
    if (item) {
      const { bare: text } = unquoted((item[2] ?? '').trim())
      if (before && !text.startsWith('-') && isHidden(before, text)) return `${item[1]}${mask}`
      if (/^--?[A-Za-z][\w-]*$/.test(text)) flagged = text
    }
    const found = keyLine.exec(line)
    if (!found) return line
    const [, lead = '', quote = '', name = '', sign = '', rest = ''] = found
    const column = lead.length
    const value = rest.replace(/\s+#.*$/, '').trim()
    const isValue = /^(value|val|default)$/i.test(name) && named?.column === column
    const valueName = (isValue ? named?.name : nameBelow(all, at, name, column)) ?? name
    if (/^(name|key|variable|var)$/i.test(name)) named = { name: unquoted(value).bare, column }
    const opens = value === '' || /^[|>]/.test(value)
    const isMap = /^[{[]/.test(value)
    if (!isSecretName(valueName)) return line
    if (opens || isMap || !isPlain(valueName, unquoted(value).bare)) hidden = { column, isText: value !== '' }
    if (opens || isPlain(valueName, unquoted(value).bare)) return line
    const [, open = ''] = /^(["'])/.exec(rest) ?? []
    const tail = /(\s*)$/.exec(line)?.[1] ?? ''
    const closes = open !== '' && value.length > 1 && value.endsWith(open)
    return `${lead}${quote}${name}${quote}${sign}${open}${mask}${closes ? open : ''}${tail}`
  }
  const masked: string[] = []
  for (let from = 0; from < all.length; from += linesPerBatch) {
    const lines = all.slice(from, from + linesPerBatch).map((line, i) => hide(line, from + i))
    masked.push(yield* maskingText(lines.join('\n')))
  }
  return masked.join('\n')
}

const nameBelow = (lines: readonly string[], at: number, field: string, column: number): string | undefined => {
  if (!/^(value|val|default)$/i.test(field)) return undefined
  for (const line of lines.slice(at + 1, at + 9)) {
    const [, lead = '', , name = '', , rest = ''] = keyLine.exec(line) ?? []
    if (line.trim() !== '' && (/^\s*/.exec(line)?.[0].length ?? 0) < column) return undefined
    if (lead.length === column && /^(name|key|variable|var)$/i.test(name)) return unquoted(rest.trim()).bare
  }
  return undefined
}

const maskKeys = (text: string): string => {
  let masked = ''
  for (let at = 0; ; ) {
    const begin = text.indexOf('-----BEGIN ', at)
    if (begin === -1) return masked + text.slice(at)
    const end = text.indexOf('-----END ', begin)
    const close = end === -1 ? -1 : text.indexOf('-----', end + 9)
    const stop = close === -1 ? text.length : close + 5
    masked += text.slice(at, begin) + text.slice(begin, stop).replace(/\S[^\n]*/g, mask)
    at = stop
  }
}

/** Masks a line below a secret name: the value of a pair, otherwise the whole line. */
const hideLine = (line: string, isText: boolean): string => {
  const found = isText ? null : keyLine.exec(line)
  if (!found) return line.replace(/^(\s*(?:-\s+)*)\S.*$/, `$1${mask}`)
  const [, lead = '', quote = '', name = '', sign = '', rest = ''] = found
  return rest.trim() === '' || /^[|>][\d+-]*\s*$/.test(rest) ? line : `${lead}${quote}${name}${quote}${sign}${mask}`
}
