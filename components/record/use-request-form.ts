'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { type MutationOptions, useMutation } from '@tanstack/react-query'
import { type DefaultValues, type FieldValues, type Path, useForm } from 'react-hook-form'
import * as z from 'zod/mini'
import { problemOf } from '#components/ui/problem.ts'

type Fail<Values> = (field: keyof Values & string, message: string) => void

interface RequestForm<Values extends FieldValues, Body, Result> {
  /** The request of the form's values, or what is wrong with them. */
  toRequest: (values: Values, fail: Fail<Values>) => unknown
  /** The contract's schema of the request. */
  schema: z.ZodMiniType<Body>
  /** The field that shows problems of a part of the request, if there is one. */
  fieldOf: (path: string) => (keyof Values & string) | undefined
  defaults: Values
  mutation: MutationOptions<Result, Error, Body>
  onSaved: (result: Result) => void
}

/** A form whose values are checked by the contract before they are sent. Problems found by either side show at their field. */
export const useRequestForm = <Values extends FieldValues, Body, Result>(
  options: RequestForm<Values, Body, Result>,
) => {
  const { toRequest, schema, fieldOf, defaults, mutation, onSaved } = options
  const form = useForm<Values, unknown, { body: Body }>({
    resolver: zodResolver(
      z.pipe(
        z.custom<Values>(),
        z.transform((values: Values, context) => {
          const fail = (field: string, message: string) =>
            context.issues.push({ code: 'custom', path: [field], message, input: values })
          const result = schema.safeParse(toRequest(values, fail))
          for (const { path, message } of result.error?.issues ?? [])
            fail(fieldOf(path.join('.')) ?? 'root', sentence(path, message))
          return { body: result.data as Body }
        }),
      ),
    ),
    defaultValues: defaults as DefaultValues<Values>,
  })
  const saving = useMutation(mutation)
  const submit = form.handleSubmit(({ body }) =>
    saving.mutate(body, {
      onError: (error) => {
        const { field, message } = problemOf(error)
        const name = fieldOf(field ?? '')
        if (name) form.setError(name as Path<Values>, { message }, { shouldFocus: true })
      },
      onSuccess: onSaved,
    }),
  )
  const failedField = saving.error ? fieldOf(problemOf(saving.error).field ?? '') : undefined
  return {
    control: form.control,
    submit: () => void submit(),
    busy: saving.isPending,
    error: failedField === undefined ? (saving.error ?? form.formState.errors.root?.message) : null,
  }
}

/** The contract's own messages start with `must`. Entries of a list are counted from 1. */
const sentence = (path: readonly PropertyKey[], message: string): string => {
  const place = path.find((part) => typeof part === 'number')
  const entry = place === undefined ? '' : `Entry ${place + 1} `
  return message.startsWith('must') ? `${entry || 'It '}${message}` : message
}
