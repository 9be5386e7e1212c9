import { useState } from "react";
import { Avatar } from "./Avatar.tsx";
import { address } from "./route.ts";
import { useUsers } from "./useUsers.ts";

/** Finds people by the beginning of a name, while it is typed. */
export function Search() {
	const [text, setText] = useState("");
	const start = text.trim().replace(/^@/, "");
	const found = useUsers(start);
	const close = () => setText("");
	return (
		<search
			className="search"
			onKeyDown={(event) => event.key === "Escape" && close()}
			onBlur={({ currentTarget, relatedTarget }) => {
				if (!currentTarget.contains(relatedTarget)) close();
			}}
		>
			<input
				type="search"
				aria-label="Search people"
				placeholder="Search people"
				autoComplete="off"
				spellCheck={false}
				value={text}
				onChange={(event) => setText(event.target.value)}
			/>
			<output className="unseen">
				{found && `${found.length} people found`}
			</output>
			{found && (
				<ul aria-label="People">
					{found.length === 0 && (
						<li className="none">Nobody's name begins so.</li>
					)}
					{found.map(({ id, name, username }) => (
						<li key={id}>
							<a href={address("user", username)} onClick={close}>
								<Avatar name={name} size={28} />
								<span>
									{name} <small>@{username}</small>
								</span>
							</a>
						</li>
					))}
				</ul>
			)}
		</search>
	);
}
