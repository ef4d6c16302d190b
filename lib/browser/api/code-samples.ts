import { useSyncExternalStore } from 'react'
import { browserStore } from '../frame/saved-list.ts'

export const sampleLanguages = ['curl', 'Python', 'TypeScript'] as const
export type SampleLanguage = (typeof sampleLanguages)[number]
export type CodeSamples = Record<SampleLanguage, string>

/** One POST request. */
export interface SampleCall {
  path: string
  /** Method of the TypeScript client, such as `devboxes.create`. */
  method: string
  /** Id in the path, which the clients take as their first argument. */
  id?: string
  /** Parts of JSON. */
  body: Readonly<Record<string, unknown>>
  /** Name of the result, whose id is printed. */
  result: string
}

export const samplesOf = ({ path, method, id, body, result }: SampleCall, serviceUrl: string): CodeSamples => ({
  curl: curlPost(serviceUrl, path, JSON.stringify(body, null, 2)),
  Python: `${pythonClient(serviceUrl)}
${pythonName(result)} = client.${pythonName(method)}(${pythonArguments(id === undefined ? [] : [id], body)})
print(${pythonName(result)})
`,
  TypeScript: `${publicClient(serviceUrl)}
const ${result} = await client.${method}(${id === undefined ? '' : `${JSON.stringify(id)}, `}${JSON.stringify(body, null, 2)})
console.log(${result})
`,
})

/** A curl command that posts `body`, which is JSON and may span lines. */
const curlPost = (serviceUrl: string, path: string, body: string): string =>
  `curl ${serviceUrl}${path} \\
  -H "Authorization: Bearer $DEVDECK_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", "'\\''")}'`

const packageName = "'@runloop/api-client'"

export const publicClient = (serviceUrl: string): string =>
  `import Runloop from ${packageName}

const client = new Runloop({
  baseURL: ${JSON.stringify(serviceUrl)},
  bearerToken: process.env.DEVDECK_API_KEY,
})
`

/** https://pypi.org/project/runloop-api-client/ */
export const pythonClient = (serviceUrl: string): string =>
  `import os

from runloop_api_client import Runloop

client = Runloop(
    base_url=${pythonLiteral(serviceUrl)},
    bearer_token=os.environ["DEVDECK_API_KEY"],
)
`

/** `devboxes.diskSnapshots.list` is `devboxes.disk_snapshots.list` in Python. */
export const pythonName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Arguments of a call, one named argument on each line. */
export const pythonArguments = (values: readonly unknown[], named: Readonly<Record<string, unknown>>): string => {
  const entries = Object.entries(named).filter(([, value]) => value !== undefined)
  const lines = [
    ...values.map((value) => pythonLiteral(value, 1)),
    ...entries.filter(([name]) => isPythonName(name)).map(([name, value]) => `${name}=${pythonLiteral(value, 1)}`),
  ]
  const others = entries.filter(([name]) => !isPythonName(name))
  if (others.length > 0) lines.push(`**${pythonLiteral(Object.fromEntries(others), 1)}`)
  return lines.length === 0 ? '' : `\n${lines.map((line) => `    ${line},\n`).join('')}`
}

const isPythonName = (name: string) => /^[a-z_]\w*$/i.test(name) && !pythonKeywords.has(name)

const pythonKeywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

/** A value of JSON as Python, whose strings have the same escapes. */
const pythonLiteral = (value: unknown, depth = 0): string => {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((item) => pythonLiteral(item, depth + 1))]
    : [
        '{',
        '}',
        Object.entries(value)
          .filter(([, item]) => item !== undefined)
          .map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, depth + 1)}`),
      ]
  if (parts.length === 0) return open + close
  const indent = '    '.repeat(depth)
  return `${open}\n${parts.map((part) => `${indent}    ${part},\n`).join('')}${indent}${close}`
}

const storageKey = 'devdeck:sample-language'
const listeners = new Set<() => void>()

const readLanguage = (): SampleLanguage => {
  const stored = browserStore()?.getItem(storageKey)
  return sampleLanguages.find((language) => language === stored) ?? 'curl'
}

export const chooseSampleLanguage = (language: SampleLanguage): void => {
  try {
    browserStore()?.setItem(storageKey, language)
  } catch {
    // Storage is full.
  }
  for (const listener of listeners) listener()
}

/** The language that the user chose last, in this browser. */
export const useSampleLanguage = (): SampleLanguage =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    readLanguage,
    () => 'curl',
  )
