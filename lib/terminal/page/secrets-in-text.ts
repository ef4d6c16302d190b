export interface FoundSecret {
  start: number
  end: number
  kind: string
}

/** Credentials with a recognizable prefix. If a pattern has a group, the group is the secret. */
const known: readonly [kind: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g],
  ['an AWS key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g],
  ['a GitHub token', /\b(?:gh[opusr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})/g],
  ['a GitLab token', /\bgl(?:pat|dt|rt|ft|cbt|ptt|agent|oas)-[\w-]{20,}/g],
  ['an API key', /\b(?:sk|rk|pk|ak|ek)[-_](?:[a-z]{2,12}[-_])?[A-Za-z0-9][\w-]{15,}/g],
  ['a Slack token', /\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{20,}/g],
  ['a Google key', /\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a PyPI token', /\bpypi-[\w-]{40,}/g],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30,}/g],
  ['a SendGrid key', /\bSG\.[\w-]{16,}\.[\w-]{16,}/g],
  ['a web token', /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g],
  ['a token', /\b(?:dop_v1_|shpat_|whsec_|lin_api_|sntrys_|dckr_pat_|tskey-|vault:v\d:|hvs\.)[\w./+=-]{12,}/g],
  ['a password in an address', /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@'"]{0,256}:([^\s/@'"]{3,256})@/gi],
  ['a key for requests', /\b(?:Bearer|Basic)\s+([\w.~+/-]{16,}=*)/gi],
  [
    'a named secret',
    /(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)["']?(?:\s{0,8}[=:]\s{0,8}|\s{1,8})["']?([^\s"'$<{*][^\s"']{7,})/gi,
  ],
]

const maxReadLength = 1_000_000

/** Likely secrets, in order and without overlaps. Can miss some and flag random names. */
export const findSecrets = (text: string): FoundSecret[] => {
  const read = text.slice(0, maxReadLength)
  const found: FoundSecret[] = []
  for (const [kind, pattern] of known)
    for (const match of read.matchAll(pattern)) {
      const secret = match[1] ?? match[0]
      const start = match.index + (match[1] === undefined ? 0 : match[0].lastIndexOf(secret))
      found.push({ start, end: start + secret.length, kind })
    }
  for (const { 0: word, index } of read.matchAll(/[\w+/-]{32,256}={0,2}/g))
    if (looksRandom(word)) found.push({ start: index, end: index + word.length, kind: 'a random key' })
  return apart(found)
}

/** Mixed case and digits, as if by chance. Hashes, paths and identifiers don't count. */
const looksRandom = (word: string): boolean => {
  if (!/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false
  // Written words change character class rarely, random ones often.
  const turns = [...word.matchAll(/[a-z](?=[A-Z\d])|[A-Z](?=\d|[a-z][A-Z\d])|\d(?=[A-Za-z])/g)].length
  return turns / word.length > 0.25 && bitsPerCharacter(word) > 3.8
}

const bitsPerCharacter = (word: string): number => {
  const counts = new Map<string, number>()
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((sum, n) => sum - (n / word.length) * Math.log2(n / word.length), 0)
}

const apart = (found: readonly FoundSecret[]): FoundSecret[] => {
  const kept: FoundSecret[] = []
  for (const secret of found.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1)
    if (last && secret.start < last.end) last.end = Math.max(last.end, secret.end)
    else kept.push({ ...secret })
  }
  return kept
}

/** Masks secrets except for their first characters, keeping line breaks. */
export const maskSecrets = (text: string, secrets: readonly FoundSecret[]): string => {
  let masked = ''
  let at = 0
  for (const { start, end } of secrets) {
    const secret = text.slice(start, end)
    const shown = secret.length > 12 ? 4 : 0
    masked += text.slice(at, start) + secret.slice(0, shown) + secret.slice(shown).replace(/[^\r\n]+/g, mask)
    at = end
  }
  return masked + text.slice(at)
}

const mask = '••••••••'
