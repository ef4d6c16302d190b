'use client'
import { CircleAlert, CircleCheck, CircleDashed, LoaderCircle, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { accountHeaders, withAccount } from '#lib/browser/api/page-account.ts'
import { type CheckName, type CheckResult, checkConnection, checkNames } from '#lib/browser/live/self-check.ts'

const names = Object.keys(checkNames) as CheckName[]

/** Tries each way the page talks to the console, and says of each what was found and what to do. */
export const SelfCheck = () => {
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
  const good = results.filter(({ state }) => state === 'ok').length
  return (
    <section aria-labelledby="self-check" className="min-w-0 space-y-3 lg:row-span-2">
      <h2 id="self-check" className="text-lg font-medium">
        Self-check
      </h2>
      <p className="text-muted">
        Tries each way this page talks to the console, and says why one fails. It changes nothing and opens no shell.
      </p>
      <Button icon={Stethoscope} busy={isRunning} onClick={() => void run()}>
        {isDone ? 'Check again' : 'Check the connection'}
      </Button>
      <p role="status" className="empty:hidden">
        {isDone && `${good} of ${names.length} checks passed`}
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

const looks = {
  ok: { tone: 'ok', icon: CircleCheck, word: 'Works' },
  failed: { tone: 'danger', icon: CircleAlert, word: 'Fails' },
  skipped: { tone: 'neutral', icon: CircleDashed, word: 'Not tried' },
} as const

const Check = ({ name, result, isNext }: { name: CheckName; result: CheckResult | undefined; isNext: boolean }) => (
  <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2">
    <span className="w-36 shrink-0 font-medium">{checkNames[name]}</span>
    <span className="w-24 shrink-0">
      {result && (
        <Badge tone={looks[result.state].tone} icon={looks[result.state].icon}>
          {looks[result.state].word}
        </Badge>
      )}
      {isNext && (
        <Badge tone="progress" icon={LoaderCircle} busy>
          Trying
        </Badge>
      )}
    </span>
    <span className="min-w-0 flex-1 basis-48 break-words">
      {result?.found}
      {result?.advice && <span className="block text-muted">{result.advice}</span>}
    </span>
  </li>
)
