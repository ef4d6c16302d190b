'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { type AgentDraft, agentField, type FieldMessages, newAgent } from './job-draft.ts'
import { jobPartQueries } from './queries.ts'

interface AgentFieldsProps {
  agents: readonly AgentDraft[]
  onChange: (agents: AgentDraft[]) => void
  problems: FieldMessages
  /** Agents of earlier jobs. */
  known: readonly { name: string; model: string | null }[]
}

/** What the public command line calls its agents; a service knows them, or says what to do. */
const publicNames = ['claude-code', 'codex', 'gemini-cli', 'goose', 'opencode']

/** The agents of a job: a command each, run in a devbox for every scenario. */
export const AgentFields = ({ agents, onChange, problems, known }: AgentFieldsProps) => {
  const id = useId()
  const { data: secretNames = [] } = useQuery(jobPartQueries.secretNames())
  const change = (index: number, part: Partial<AgentDraft>) =>
    onChange(agents.map((agent, at) => (at === index ? { ...agent, ...part } : agent)))
  return (
    <div className="space-y-3">
      <datalist id={`${id}-names`}>
        {[...new Set(['nop', ...publicNames, ...known.map(({ name }) => name)])].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id={`${id}-models`}>
        {[...new Set(known.flatMap(({ model }) => model ?? []))].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {agents.map((agent, index) => {
        const problem = (field: string) => problems.get(agentField(index, field)) ?? null
        const secretProblem = problem('agent_environment.secrets') ?? problem('agent_environment')
        return (
          <fieldset key={agent.key} className="min-w-0 space-y-3 rounded-md border border-line p-3">
            <legend className="px-1 font-medium">Agent {index + 1}</legend>
            <div className="grid gap-3 sm:grid-cols-[1fr_1fr_8rem_auto]">
              <TextField
                label="Agent name"
                list={`${id}-names`}
                error={problem('name')}
                value={agent.name}
                onText={(name) => change(index, { name })}
              />
              <TextField
                label="Model"
                optional
                list={`${id}-models`}
                error={problem('model_name')}
                value={agent.model}
                onText={(model) => change(index, { model })}
              />
              <TextField
                label="Timeout, s"
                optional
                inputMode="numeric"
                placeholder="7200"
                error={problem('timeout_seconds')}
                value={agent.timeout}
                onText={(timeout) => change(index, { timeout })}
              />
              {agents.length > 1 && (
                <IconButton
                  icon={X}
                  label={`Remove agent ${index + 1}`}
                  className="sm:mt-6"
                  onClick={() => onChange(agents.filter((_, at) => at !== index))}
                />
              )}
            </div>
            <Field
              label="Command"
              optional
              hint="Run by bash in the devbox of each scenario, with the task in the file $HARBOR_INSTRUCTION_FILE and the model in $HARBOR_MODEL_NAME. The agent nop needs none, nor does one that the service knows by its name."
              error={problem('kwargs.command')}
            >
              {(control) => (
                <Textarea
                  {...control}
                  mono
                  rows={2}
                  value={agent.command}
                  onChange={({ target }) => change(index, { command: target.value })}
                />
              )}
            </Field>
            <KeyValueEditor
              label="Environment variables"
              addLabel="Add variable"
              keyPlaceholder="NAME"
              value={agent.variables}
              onChange={(variables) => change(index, { variables })}
              error={problem('agent_environment.environment_variables')}
            />
            <KeyValueEditor
              label="Secrets"
              addLabel="Add secret"
              keyPlaceholder="VARIABLE"
              valuePlaceholder="name of a secret"
              valueSuggestions={secretNames}
              hint={secretNames.length === 0 ? 'The account has no secrets.' : 'A variable, and the secret it gets.'}
              value={agent.secrets}
              onChange={(secrets) => change(index, { secrets })}
              error={secretProblem}
            />
          </fieldset>
        )
      })}
      <Button
        size="sm"
        icon={Plus}
        onClick={() => onChange([...agents, newAgent(Math.max(...agents.map(({ key }) => key)) + 1)])}
      >
        Add agent
      </Button>
    </div>
  )
}
