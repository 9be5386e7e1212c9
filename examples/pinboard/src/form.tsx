import {
	type FormEvent,
	type HTMLInputTypeAttribute,
	type ReactNode,
	useEffect,
	useId,
	useRef,
	useState,
} from "react";
import { RequestError } from "./requestError.ts";

/** Messages by the name of an input's field; those of the whole form under "". */
export type FormErrors = Readonly<Record<string, string>>;

/** What the server says is wrong with each field, from `extensions.fields`. */
export function errorsOf(error: Error): FormErrors {
	const fields = error instanceof RequestError ? error.fields : [];
	if (fields.length === 0) return { "": error.message };
	return Object.fromEntries(
		// `["input", "image", "url"]` is the form's field "image.url", and
		// `["input", "interests", 0]` its field "interests".
		fields.map(({ path, message }) => [
			path
				.slice(1)
				.filter((step) => typeof step === "string")
				.join("."),
			message,
		]),
	);
}

/** A form that keeps what was typed when it is refused, and leads to the first field that is wrong. */
export function Form(props: {
	readonly errors: FormErrors;
	readonly submit: string;
	readonly isSending: boolean;
	/** The trimmed texts by name; null for an empty field. A checkbox that is set has "on". */
	readonly onSubmit: (values: Readonly<Record<string, string | null>>) => void;
	readonly children: ReactNode;
	/** Shown before the button that submits. */
	readonly beside?: ReactNode;
}) {
	const { errors, submit, isSending, onSubmit, children, beside } = props;
	const form = useRef<HTMLFormElement>(null);
	useEffect(() => {
		if (Object.keys(errors).length === 0) return;
		form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
	}, [errors]);
	function send(event: FormEvent<HTMLFormElement>) {
		event.preventDefault();
		if (isSending) return;
		const values = [...new FormData(event.currentTarget)].map(
			([name, value]) => [name, String(value).trim() || null] as const,
		);
		onSubmit(Object.fromEntries(values));
	}
	return (
		// The server decides what is valid, so that there is one wording of it.
		<form ref={form} onSubmit={send} noValidate>
			{children}
			<p role="alert" className="form-error">
				{errors[""]}
			</p>
			<div className="actions">
				{beside}
				<button type="submit" className="primary" aria-disabled={isSending}>
					{submit}
				</button>
			</div>
		</form>
	);
}

export function Field(props: {
	readonly label: string;
	readonly name: string;
	readonly errors: FormErrors;
	readonly help?: string;
	readonly type?: HTMLInputTypeAttribute;
	/** More than one: a text area. */
	readonly rows?: number;
	readonly initial?: string | null | undefined;
	readonly autoComplete?: string;
	readonly required?: boolean;
	/** What was typed so far. */
	readonly onText?: (text: string) => void;
}) {
	const { label, name, errors, help, rows = 1, required = false } = props;
	const id = useId();
	const error = errors[name];
	const notes = [error && `${id}-error`, help && `${id}-help`].filter(Boolean);
	const common = {
		id,
		name,
		defaultValue: props.initial ?? "",
		"aria-invalid": error !== undefined,
		"aria-describedby": notes.length > 0 ? notes.join(" ") : undefined,
		"aria-required": required,
		autoComplete: props.autoComplete ?? "off",
		onInput: (event: FormEvent<HTMLInputElement | HTMLTextAreaElement>) =>
			props.onText?.(event.currentTarget.value),
	};
	return (
		<div className="field">
			<label htmlFor={id}>{label}</label>
			{rows > 1 ? (
				<textarea {...common} rows={rows} />
			) : (
				<input {...common} type={props.type ?? "text"} />
			)}
			{error !== undefined && (
				<p id={`${id}-error`} className="field-error">
					{error}
				</p>
			)}
			{help !== undefined && (
				<p id={`${id}-help`} className="field-help">
					{help}
				</p>
			)}
		</div>
	);
}

/** The errors of a form, and what a mutation reports them with. */
export function useFormErrors(): readonly [
	FormErrors,
	{
		readonly clear: () => void;
		readonly report: (error: Error) => void;
		/** Reports a problem of a field that the page checks by itself. */
		readonly reportField: (name: string, message: string) => void;
	},
] {
	const [errors, setErrors] = useState<FormErrors>({});
	return [
		errors,
		{
			clear: () => setErrors({}),
			report: (error) => setErrors(errorsOf(error)),
			reportField: (name, message) => setErrors({ [name]: message }),
		},
	];
}
