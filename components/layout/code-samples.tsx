'use client'
import { Copy, Terminal } from 'lucide-react'
import { classes } from '#components/ui/classes.ts'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import type { MenuAction } from '#components/ui/dropdown-menu.tsx'
import { toast } from '#components/ui/toast.tsx'
import { writeClipboard } from '#components/ui/use-copy.ts'
import {
  type CodeSamples,
  chooseSampleLanguage,
  type SampleCall,
  type SampleLanguage,
  sampleLanguages,
  samplesOf,
  useSampleLanguage,
} from '#lib/browser/api/code-samples.ts'

/** The API request that does the same, in a language of the user's choice. */
export const CodeSample = ({ call, serviceUrl }: { call: SampleCall; serviceUrl: string }) => {
  const language = useSampleLanguage()
  return (
    <div className="w-full space-y-1.5">
      <fieldset className="flex flex-wrap items-center gap-1">
        <legend className="sr-only">Language of the sample</legend>
        {sampleLanguages.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === language}
            onClick={() => chooseSampleLanguage(each)}
            className={classes(
              'h-6 rounded-md px-2 text-sm hover:bg-surface-2',
              each === language ? 'bg-surface-2 font-medium text-text' : 'text-muted',
            )}
          >
            {each}
          </button>
        ))}
      </fieldset>
      <CommandBlock label={`as ${language}`} command={samplesOf(call, serviceUrl)[language].trimEnd()} />
    </div>
  )
}

interface CopySamplesProps {
  samples: () => CodeSamples
  disabledReason?: string | null
}

/** A button for each language. */
export const CopySamples = ({ samples, disabledReason = null }: CopySamplesProps) => (
  <div className="flex flex-wrap items-center gap-1">
    {sampleLanguages.map((language) => (
      <CopyButton
        key={language}
        what={`as ${language}`}
        icon={Terminal}
        disabledReason={disabledReason}
        text={() => {
          chooseSampleLanguage(language)
          return samples()[language]
        }}
      />
    ))}
  </div>
)

/** For `DropdownMenu`. */
export const copySampleItems = ({ samples, disabledReason = null }: CopySamplesProps): MenuAction[] =>
  sampleLanguages.map((language) => ({
    label: language,
    icon: Copy,
    disabledReason,
    onSelect: () => {
      chooseSampleLanguage(language)
      void copy(language, samples()[language])
    },
  }))

const copy = async (language: SampleLanguage, text: string) => {
  if (await writeClipboard(text)) toast.ok(`Copied as ${language}`)
  else toast.danger("Couldn't copy: the browser denied access to the clipboard")
}
