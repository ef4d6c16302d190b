import { Fact, Facts } from '#components/ui/facts.tsx'
import { NumberedLines } from '#components/ui/numbered-lines.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { LaunchParameters } from '#lib/contract/launch-parameters.ts'

export const LaunchParameterList = ({ launch }: { launch: LaunchParameters }) => {
  const commands = launch.launch_commands ?? []
  const set = Object.entries(launch).filter(
    ([, value]) => value != null && !(Array.isArray(value) && value.length === 0),
  )
  const rest = set.filter(([name]) => name !== 'launch_commands')
  if (set.length === 0) return <p className="text-muted">None</p>
  return (
    <div className="space-y-3">
      {commands.length > 0 && <NumberedLines ruled label="Launch commands" lines={commands} />}
      {rest.length > 0 && (
        <Facts mono>
          {rest.map(([name, value]) => (
            <Fact key={name} label={name} className="break-all">
              <VisibleText max={2000}>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</VisibleText>
            </Fact>
          ))}
        </Facts>
      )}
    </div>
  )
}
