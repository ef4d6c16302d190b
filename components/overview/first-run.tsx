'use client'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { ArrowRight, CircleCheck, X } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isOfTrial } from '#lib/contract/devboxes.ts'
import { comparedJobs, type DemoView } from '#lib/protocol/demo.ts'
import { demoMutations, isDemoChanging } from './demo-queries.ts'
import { markSteps, useFirstRunSteps } from './first-run-steps.ts'
import { overviewQueries } from './queries.ts'

/** The first three steps in an empty account, for people who can take them. Disappears once they are done. */
export const FirstRun = ({ account, demo }: { account: string; demo: DemoView }) => {
  const { data: totals } = useQuery(overviewQueries.totals())
  const running = useInfiniteQuery(overviewQueries.running())
  const steps = useFirstRunSteps(account)
  const load = useMutation(demoMutations.load())
  const mayCreate = useRefusal('devboxes.create') === null
  const hasDevbox = !!totals && Object.values(totals.counts).some((count) => count > 0)
  const isEmpty = !!totals && !hasDevbox && totals.trials === 0 && !totals.isPartial && demo.state !== 'removing'
  const isOver = steps?.isOver || (hasDevbox && steps?.hasOpenedShell && steps.hasCompared)
  useEffect(() => {
    if (isEmpty && steps && !steps.hasStarted) markSteps(account, { hasStarted: true })
    else if (isOver && !steps?.isOver) markSteps(account, { isOver: true })
  }, [account, isEmpty, isOver, steps])
  if (isOver || !mayCreate || !(isEmpty || steps?.hasStarted)) return null

  const devbox = running.data?.pages[0]?.devboxes.find((each) => !isOfTrial(each))
  const jobs = comparedJobs(demo.items)
  return (
    <section aria-labelledby="first-run" className="relative mb-8 rounded-md border border-line bg-surface-1 p-4">
      <h2 id="first-run" className="text-lg font-medium">
        Get started
      </h2>
      <IconButton
        icon={X}
        label="Hide the first steps"
        onClick={() => markSteps(account, { isOver: true })}
        className="absolute top-2 right-2"
      />
      <ol className="mt-3 grid gap-x-8 gap-y-5 md:grid-cols-3">
        <Step title="Create a devbox" isDone={hasDevbox} action={<StepLink href={paths.devboxes()}>Devboxes</StepLink>}>
          An isolated sandbox with its own disk and terminals.
        </Step>
        <Step
          title="Open a shell"
          isDone={!!steps?.hasOpenedShell}
          action={devbox && <StepLink href={paths.devbox(devbox.id, 'terminal')}>Open a terminal</StepLink>}
        >
          {devbox
            ? 'A terminal keeps running when you close the page, and several people can share it.'
            : 'Every running devbox has terminals. Create a devbox or load the demo data first.'}
        </Step>
        <Step
          title="Compare jobs"
          isDone={!!steps?.hasCompared}
          action={
            jobs.length > 1 ? (
              <StepLink href={paths.compare(jobs)}>Compare the demo jobs</StepLink>
            ) : demo.state === 'none' && isEmpty ? (
              <Button variant="primary" needs="/api/demo" busy={load.isPending} onClick={() => load.mutate()}>
                Load demo data
              </Button>
            ) : isDemoChanging(demo) ? undefined : (
              <StepLink href={paths.benchmarkJobs()}>Benchmark jobs</StepLink>
            )
          }
        >
          {demo.state === 'unavailable'
            ? 'A benchmark job scores agents on scenarios. Two jobs can be compared.'
            : 'Demo data has two jobs to compare, devboxes and axons. Loading takes about 20 seconds, and you can remove it later.'}
        </Step>
      </ol>
      {load.error && (
        <p role="alert" className="mt-3 text-danger">
          Demo data could not be loaded: {problemOf(load.error).message}
        </p>
      )}
    </section>
  )
}

const Step = (step: { title: string; isDone: boolean; action?: ReactNode; children: ReactNode }) => (
  <li className="flex flex-col items-start gap-1.5">
    <h3 className="flex items-center gap-1.5 font-medium">
      {step.isDone && <CircleCheck aria-label="Done" role="img" className="size-4 text-ok" />}
      {step.title}
    </h3>
    <p className="text-muted">{step.children}</p>
    {step.action}
  </li>
)

const StepLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <TextLink href={href} className="inline-flex items-center gap-1">
    {children} <ArrowRight aria-hidden className="size-3.5" />
  </TextLink>
)
