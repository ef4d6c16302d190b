'use client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { LaunchParameterList } from '#components/devboxes/launch-parameter-list.tsx'
import { devboxesPath } from '#components/devboxes/search-params.ts'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { NumberedLines } from '#components/ui/numbered-lines.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { Section } from '#components/ui/section.tsx'
import { visibleJson } from '#components/ui/text.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Blueprint, isBuilding } from '#lib/contract/blueprints.ts'
import { BaseText } from './base.tsx'
import { failingLine } from './build-log.tsx'
import { failedLineOf } from './line-number.ts'
import { blueprintQueries } from './queries.ts'
import { BuildTime } from './status.tsx'
import { withoutCredentials } from './without-credentials.ts'

export const BlueprintOverview = ({ id }: { id: string }) => {
  const { data: blueprint } = useSuspenseQuery(blueprintQueries.get(id))
  const { parameters, metadata } = blueprint
  const { dockerfile, system_setup_commands: commands, file_mounts } = parameters
  const lines = (dockerfile ?? '').replace(/\r?\n$/, '').split(/\r?\n/)
  const files = Object.entries(file_mounts ?? {})
  const others = otherParameters(parameters)
  return (
    <>
      <BuildBanner blueprint={blueprint} />
      <div className="grid items-start gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,3fr)_minmax(18rem,2fr)]">
        <div className="min-w-0 space-y-8">
          {dockerfile && (
            <Section title="Dockerfile" action={<CopyButton what="Dockerfile" text={() => dockerfile} />}>
              <NumberedLines label="Dockerfile" lines={lines} marked={failedLineOf(lines, blueprint.failure_message)} />
            </Section>
          )}
          {(commands?.length || !dockerfile) && (
            <Section title="Setup commands">
              {commands?.length ? (
                <NumberedLines ruled label="Setup commands" lines={commands} />
              ) : (
                <p className="text-muted">None</p>
              )}
            </Section>
          )}
          {files.length > 0 && (
            <Section title="Files">
              {files.map(([path, content]) => (
                <details key={path}>
                  <summary className="w-fit max-w-full cursor-pointer font-mono text-sm">
                    <VisibleText max={400}>{path}</VisibleText>
                  </summary>
                  <ScrolledText className="mt-1 max-h-72">{content}</ScrolledText>
                </details>
              ))}
            </Section>
          )}
          <details>
            <summary className="cursor-pointer text-lg font-medium">Raw JSON</summary>
            <CommandBlock
              label="JSON"
              className="mt-3 max-h-[32rem] overflow-auto"
              command={visibleJson(withoutCredentials(blueprint))}
            />
          </details>
        </div>
        <div className="min-w-0 space-y-8">
          <Section title="Build">
            <BuildFacts blueprint={blueprint} />
          </Section>
          <Section title="Metadata">
            <MetadataChips
              metadata={metadata ?? {}}
              hrefFor={(key, value) => paths.blueprints({ metadata: [{ key, op: 'eq', value }] })}
              empty={<p className="text-muted">None</p>}
            />
          </Section>
          <Section title="Launch parameters">
            <LaunchParameterList launch={parameters.launch_parameters ?? {}} />
          </Section>
          {others.length > 0 && (
            <Section title="Other parameters">
              <Facts mono>
                {others.map(([name, value]) => (
                  <Fact key={name} label={name} className="break-all">
                    <VisibleText max={2000}>
                      {typeof value === 'string' ? value : JSON.stringify(withoutCredentials(value))}
                    </VisibleText>
                  </Fact>
                ))}
              </Facts>
            </Section>
          )}
        </div>
      </div>
    </>
  )
}

const BuildBanner = ({ blueprint }: { blueprint: Blueprint }) => {
  const { id, status, state, failure_reason, failure_message } = blueprint
  const hasFailed = status === 'failed'
  const { data: records } = useQuery({ ...blueprintQueries.log(blueprint), enabled: hasFailed && !failure_message })
  const line = failure_message ?? failingLine(records ?? [])
  if (state === 'deleted')
    return <Banner tone="neutral" title="This blueprint is deleted" className="mb-4 rounded-md" />
  if (!hasFailed && !isBuilding(blueprint.status)) return null
  return (
    <Banner
      tone={hasFailed ? 'danger' : 'progress'}
      className="mb-4 rounded-md"
      title={hasFailed ? failureText(failure_reason) : 'The build is running'}
      actions={
        <ButtonLink size="sm" href={paths.blueprint(id, 'log')}>
          View build log
        </ButtonLink>
      }
    >
      {hasFailed && line && (
        <VisibleText max={600} mono className="text-sm">
          {line}
        </VisibleText>
      )}
    </Banner>
  )
}

const failures: Record<string, string> = {
  out_of_memory: 'The build ran out of memory',
  out_of_disk: 'The build ran out of disk space',
  build_failed: 'The build failed',
}

const failureText = (reason: string | null | undefined) =>
  failures[reason ?? ''] ?? `The build failed${reason ? `: ${reason}` : ''}`

const BuildFacts = ({ blueprint }: { blueprint: Blueprint }) => {
  const { id, create_time_ms, build_finish_time_ms, devbox_capabilities: capabilities } = blueprint
  return (
    <Facts>
      <Fact label="Base">
        <BaseText blueprint={blueprint} />
      </Fact>
      <Fact label="Created">
        <RelativeTime ms={create_time_ms} />
      </Fact>
      {build_finish_time_ms != null && (
        <Fact label="Finished">
          <RelativeTime ms={build_finish_time_ms} />
        </Fact>
      )}
      {(build_finish_time_ms != null || isBuilding(blueprint.status)) && (
        <Fact label="Build time">
          <BuildTime blueprint={blueprint} />
        </Fact>
      )}
      {capabilities && capabilities.length > 0 && <Fact label="Capabilities">{capabilities.join(', ')}</Fact>}
      <Fact label="Created from it" className="flex flex-wrap gap-x-4">
        <TextLink href={devboxesPath({ blueprint: id })}>Devboxes</TextLink>
        <TextLink href={paths.snapshots({ source_blueprint_id: id })}>Snapshots</TextLink>
      </Fact>
    </Facts>
  )
}

const shown = ['name', 'dockerfile', 'system_setup_commands', 'file_mounts', 'launch_parameters', 'metadata']
const isEmpty = (value: unknown) => value == null || (typeof value === 'object' && Object.keys(value).length === 0)

const otherParameters = (parameters: Blueprint['parameters']) =>
  Object.entries(parameters).filter(
    ([name, value]) => !shown.includes(name) && !name.startsWith('base_') && !isEmpty(value),
  )
