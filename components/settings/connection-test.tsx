'use client'
import { CircleAlert, CircleCheck, CircleDashed, LoaderCircle, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { accountHeaders, withAccount } from '#lib/browser/api/page-account.ts'
import { type CheckName, type CheckResult, checkConnection, checkNames } from './connection-checks.ts'

const names = Object.keys(checkNames) as CheckName[]

export const ConnectionTest = () => {
  const [results, setResults] = useState<readonly CheckResult[]>([])
  const [isRunning, setRunning] = useState(false)
  const run = async () => {
    setResults([])
    setRunning(true)
    await checkConnection({
      origin: location.origin,
      fetch: (input, init) => fetch(input, init),
      headers: accountHeaders(),
      socketUrl: (path) => withAccount(`${location.origin.replace(/^http/, 'ws')}${path}`),
      WebSocket,
      onResult: (result) => setResults((before) => [...before, result]),
    }).finally(() => setRunning(false))
  }
  const isDone = !isRunning && results.length > 0
  const passed = results.filter(({ state }) => state === 'ok').length
  return (
    <section aria-labelledby="connection-test" className="min-w-0 space-y-3 lg:row-span-2">
      <h2 id="connection-test" className="text-lg font-medium">
        Connection test
      </h2>
      <p className="text-muted">
        Tests every connection between this page and the console and explains failures. It changes nothing and opens no
        shell.
      </p>
      <Button icon={Stethoscope} busy={isRunning} onClick={() => void run()}>
        {isDone ? 'Test again' : 'Test connection'}
      </Button>
      <p role="status" className="empty:hidden">
        {isDone && `${passed} of ${names.length} checks passed`}
        {isRunning && `${results.length} of ${names.length} checks done`}
      </p>
      {(isRunning || isDone) && (
        <ul aria-label="Checks" className="divide-y divide-line border-y border-line">
          {names.map((name, i) => (
            <Check
              key={name}
              name={name}
              result={results.find((each) => each.name === name)}
              isNext={isRunning && i === results.length}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

const styles = {
  ok: { tone: 'ok', icon: CircleCheck, label: 'Passed' },
  failed: { tone: 'danger', icon: CircleAlert, label: 'Failed' },
  skipped: { tone: 'neutral', icon: CircleDashed, label: 'Skipped' },
} as const

const Check = ({ name, result, isNext }: { name: CheckName; result: CheckResult | undefined; isNext: boolean }) => (
  <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2">
    <span className="w-36 shrink-0 font-medium">{checkNames[name]}</span>
    <span className="w-24 shrink-0">
      {result && (
        <Badge tone={styles[result.state].tone} icon={styles[result.state].icon}>
          {styles[result.state].label}
        </Badge>
      )}
      {isNext && (
        <Badge tone="progress" icon={LoaderCircle} busy>
          Testing
        </Badge>
      )}
    </span>
    <span className="min-w-0 flex-1 basis-48 break-words">
      {result?.message}
      {result?.advice && <span className="block text-muted">{result.advice}</span>}
    </span>
  </li>
)
