import { useSession } from "./session.tsx";

export function FollowToggle(props: {
	readonly follows: boolean;
	readonly name: string;
	/** What follows is set to. */
	readonly onToggle: (follows: boolean) => void;
}) {
	const { follows, name, onToggle } = props;
	const { signedIn, signIn } = useSession();
	return (
		<button
			type="button"
			className="follow"
			aria-pressed={follows}
			aria-label={follows ? `Unfollow ${name}` : `Follow ${name}`}
			onClick={() => (signedIn ? onToggle(!follows) : signIn())}
		>
			{follows ? "Following" : "Follow"}
		</button>
	);
}
