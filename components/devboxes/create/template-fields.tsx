'use client'
import { Save, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { browserStore } from '#lib/browser/frame/kept-items.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { forgetTemplate, keepTemplate, readTemplates } from './templates.ts'

interface TemplateFieldsProps {
  /** What would be kept; undefined while a field has to be mended. */
  body: DevboxCreate | undefined
  onChoose: (body: DevboxCreate) => void
}

/** Templates of this browser: one fills the form, and the form makes one. */
export const TemplateFields = ({ body, onChoose }: TemplateFieldsProps) => {
  const [templates, setTemplates] = useState(() => readTemplates(browserStore()))
  const [chosen, setChosen] = useState('')
  const [name, setName] = useState('')
  const choose = (wanted: string) => {
    setChosen(wanted)
    const template = templates.find((each) => each.name === wanted)
    if (template) onChoose(template.body)
  }
  const keep = () => {
    if (!body) return
    if (!keepTemplate(browserStore(), { name: name.trim(), body }))
      return void toast.danger('This browser keeps no template')
    setTemplates(readTemplates(browserStore()))
    setChosen(name.trim())
    setName('')
  }
  const forget = () => {
    forgetTemplate(browserStore(), chosen)
    setTemplates(readTemplates(browserStore()))
    setChosen('')
  }
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-2 font-medium">Templates ({templates.length})</summary>
      <div className="space-y-4 px-3 pt-1 pb-4">
        {templates.length > 0 && (
          <div className="flex flex-wrap items-end gap-2">
            <SelectField
              label="Fill in from"
              value={chosen}
              onPick={choose}
              options={[
                { value: '', label: 'Choose a template' },
                ...templates.map((each) => ({ value: each.name, label: each.name })),
              ]}
            />
            {chosen !== '' && <IconButton icon={Trash2} label={`Delete template ${chosen}`} onClick={forget} />}
          </div>
        )}
        <div className="flex flex-wrap items-end gap-2">
          <TextField label="Keep this as a template named" value={name} onText={setName} placeholder="node-service" />
          <Button
            icon={Save}
            disabledReason={name.trim() === '' ? 'it needs a name' : body ? null : 'a field has to be mended first'}
            onClick={keep}
          >
            Save template
          </Button>
        </div>
        <p className="text-sm text-muted">
          Kept in this browser. Values of variables that look secret are left out; secrets are kept by name.
        </p>
      </div>
    </details>
  )
}
