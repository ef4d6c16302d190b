import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Names of the metrics in the shipped alert rules and dashboard, of the console or of the service. */
export const documentedMetrics = (process: 'console' | 'service'): string[] => {
  const files = ['packaging/alert-rules.yaml', 'docs/grafana-dashboard.json'].map((name) =>
    readFileSync(join(root, name), 'utf8'),
  )
  const names = files.flatMap((text) => [...text.matchAll(/\bdevdeck_\w+/g)].map(([name]) => name))
  const ofConsole = (name: string) => name.startsWith('devdeck_console_')
  return [...new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')))].filter(
    (name) => ofConsole(name) === (process === 'console'),
  )
}
