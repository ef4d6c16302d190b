import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertName } from './alert-feed.ts'

interface BulkTexts {
  /** Message for a single devbox. */
  done: string
  failed: string
  /** After a count: "78 of 80" and "snapshots started". */
  result: string
}

const atOnce = 4
const maxListed = 100
let runs = 0

/** Acts on the devbox of each alert, shows the progress, and lists those that failed with a button to retry them. */
export const runOnEach = async (
  texts: BulkTexts,
  alerts: readonly Alert[],
  act: (devboxId: string) => Promise<unknown>,
): Promise<void> => {
  const failures: { alert: Alert; reason: string }[] = []
  let succeeded = 0
  let isStopped = false
  const counted = () => `${formatCount(succeeded)} of ${formatCount(alerts.length)} ${texts.result}`
  const progressId = `bulk-${++runs}`
  const step = Math.ceil(alerts.length / 100)
  const report = () => {
    if (alerts.length <= atOnce || (succeeded + failures.length) % step > 0) return
    const stop = () => {
      isStopped = true
    }
    toast.info(counted(), {
      id: progressId,
      action: { label: 'Stop', onClick: stop },
      durationMs: Number.POSITIVE_INFINITY,
    })
  }
  const left = alerts.values()
  const work = async () => {
    for (const alert of left) {
      if (isStopped) return
      try {
        await act(alert.devbox_id)
        succeeded += 1
      } catch (error) {
        failures.push({ alert, reason: problemOf(error).message })
      }
      report()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  toast.dismiss(progressId)
  const [failure] = failures
  if (failure && alerts.length === 1) return toast.danger(texts.failed, { description: failure.reason })
  if (failure)
    return toast.danger(`${counted()}, ${formatCount(failures.length)} failed`, {
      durationMs: Number.POSITIVE_INFINITY,
      description: <Failures failures={failures} />,
      action: {
        label: `Retry ${formatCount(failures.length)}`,
        onClick: () =>
          void runOnEach(
            texts,
            failures.map(({ alert }) => alert),
            act,
          ),
      },
    })
  if (isStopped) return toast.info(`${counted()}, then stopped`)
  toast.ok(alerts.length === 1 ? texts.done : counted())
}

const Failures = ({ failures }: { failures: readonly { alert: Alert; reason: string }[] }) => {
  const hidden = failures.length - maxListed
  return (
    <ul aria-label="Failed" className="max-h-32 overflow-y-auto">
      {failures.slice(0, maxListed).map(({ alert, reason }) => (
        <li key={alert.id}>
          <VisibleText max={60}>{alertName(alert)}</VisibleText>: {reason}
        </li>
      ))}
      {hidden > 0 && <li>and {formatCount(hidden)} more</li>}
    </ul>
  )
}
