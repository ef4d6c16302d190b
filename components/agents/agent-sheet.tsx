'use client'
import { useQuery } from '@tanstack/react-query'
import { Box, Trash2 } from 'lucide-react'
import { RecordSheet } from '#components/record/record-sheet.tsx'
import { Button } from '#components/ui/button.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { Agent } from '#lib/contract/agents.ts'
import { deleteRefusal } from './delete-refusal.ts'
import { agentQueries } from './queries.ts'
import { setupOf, sourceText } from './source.ts'

interface AgentSheetProps {
  id: string
  listed: Agent | undefined
  onUse: (agent: Agent) => void
  onDelete: (agent: Agent) => void
  onClose: () => void
}

export const AgentSheet = ({ id, listed, onUse, onDelete, onClose }: AgentSheetProps) => {
  const { data: counts } = useQuery(agentQueries.devboxCounts())
  return (
    <RecordSheet noun="agent" id={id} listed={listed} query={agentQueries.get(id)} onClose={onClose}>
      {(agent) => (
        <>
          <div className="flex flex-wrap gap-2">
            <Button icon={Box} needs="devboxes.create" onClick={() => onUse(agent)}>
              Create devbox
            </Button>
            <Button
              icon={Trash2}
              needs="agents.delete"
              disabledReason={deleteRefusal(agent)}
              onClick={() => onDelete(agent)}
            >
              Delete agent
            </Button>
          </div>
          <Facts>
            <Fact label="ID">
              <CopyableId value={agent.id} full />
            </Fact>
            <Fact label="Version">{agent.version ? <VisibleText max={200}>{agent.version}</VisibleText> : 'None'}</Fact>
            <Fact label="Source" className="font-mono text-sm break-all">
              {sourceText(agent.source)}
            </Fact>
            <Fact label="Public">{agent.is_public ? 'Yes' : 'No'}</Fact>
            <Fact label="Devboxes">{counts ? formatCount(counts[agent.name] ?? 0) : 'Not reported'}</Fact>
            <Fact label="Created">
              <RelativeTime ms={agent.create_time_ms} />
            </Fact>
          </Facts>
          {setupOf(agent.source).length > 0 && (
            <section aria-label="Setup commands" className="space-y-1">
              <h3 className="font-medium">Setup commands</h3>
              <CommandBlock label="setup commands" command={setupOf(agent.source).join('\n')} />
            </section>
          )}
        </>
      )}
    </RecordSheet>
  )
}
