// Made by corkboard schema types from the SDL beside it. Do not edit.
import type { Id } from "corkboard";

/** What the SDL declares: `forSchema<Schema>()` holds an app against it. */
export interface Schema {
	/** Types with rows: their stored fields, their references, and what is stored by its keys. */
	objects: {
		Board: {
			fields: {
				name: string;
				description: string | null;
				cover: { url: string; width?: number; height?: number; alt?: string } | null;
				secret: boolean;
				createdAt: string;
			};
			references: {
				owner: "User";
			};
			data: {
				name?: string;
				description?: string;
				cover?: { url: string; width?: number; height?: number; alt?: string };
				secret?: boolean;
				created_at?: string;
				user_id?: Id;
			};
		};
		Comment: {
			fields: {
				text: string;
				createdAt: string;
				editedAt: string | null;
			};
			references: {
				author: "User";
				pin: "Pin";
			};
			data: {
				text?: string;
				created_at?: string;
				edited_at?: string;
				user_id?: Id;
				pin_id?: Id;
			};
		};
		Interest: {
			fields: {
				slug: string;
				name: string;
			};
			references: {
			};
			data: {
				slug?: string;
				name?: string;
			};
		};
		Pin: {
			fields: {
				title: string | null;
				details: string | null;
				link: string | null;
				image: { url: string; width?: number; height?: number; alt?: string } | null;
				createdAt: string;
			};
			references: {
				board: "Board";
				owner: "User";
				origin: "Pin";
				section: "Section";
			};
			data: {
				title?: string;
				details?: string;
				link?: string;
				image?: { url: string; width?: number; height?: number; alt?: string };
				created_at?: string;
				board_id?: Id;
				user_id?: Id;
				origin_id?: Id;
				section_id?: Id;
			};
		};
		Report: {
			fields: {
				subjectId: string;
				reason: "SPAM" | "ADULT_CONTENT" | "HATE" | "HARASSMENT" | "COPYRIGHT" | "OTHER";
				text: string | null;
				createdAt: string;
			};
			references: {
				reporter: "User";
			};
			data: {
				subject_id?: string;
				reason?: "SPAM" | "ADULT_CONTENT" | "HATE" | "HARASSMENT" | "COPYRIGHT" | "OTHER";
				text?: string;
				created_at?: string;
				user_id?: Id;
			};
		};
		Section: {
			fields: {
				name: string;
				createdAt: string;
			};
			references: {
				board: "Board";
			};
			data: {
				name?: string;
				created_at?: string;
				board_id?: Id;
			};
		};
		User: {
			fields: {
				username: string;
				name: string;
				bio: string | null;
				website: string | null;
				avatar: { url: string; width?: number; height?: number; alt?: string } | null;
				createdAt: string;
				account: string | null;
				deactivatedAt: string | null;
				email: string | null;
			};
			references: {
			};
			data: {
				username?: string;
				name?: string;
				bio?: string;
				website?: string;
				avatar?: { url: string; width?: number; height?: number; alt?: string };
				created_at?: string;
				account?: string;
				deactivated_at?: string;
				email?: string;
			};
		};
	};
	/** Inputs of arguments. */
	inputs: {
		UpdateCommentInput: {
			text: string;
			commentId: string;
		};
		RefreshHomeFeedInput: {
			userId: string;
		};
		HideFromHomeFeedInput: {
			pinId: string;
		};
		ImageInput: {
			url: string;
			width?: number | null | undefined;
			height?: number | null | undefined;
			alt?: string | null | undefined;
		};
		RepinInput: {
			pinId: string;
			boardId: string;
			title?: string | null | undefined;
			details?: string | null | undefined;
			idempotencyKey?: string | null | undefined;
			sectionId?: string | null | undefined;
		};
		MovePinInput: {
			pinId: string;
			boardId?: string | null | undefined;
			beforePinId?: string | null | undefined;
			afterPinId?: string | null | undefined;
			sectionId?: string | null | undefined;
		};
		MovePinsInput: {
			pinIds: readonly (string)[];
			boardId?: string | null | undefined;
			sectionId?: string | null | undefined;
		};
		DeletePinsInput: {
			pinIds: readonly (string)[];
		};
		CreatePinInput: {
			interests?: readonly (string)[] | null | undefined;
			boardId: string;
			title?: string | null | undefined;
			details?: string | null | undefined;
			link?: string | null | undefined;
			image?: Schema["inputs"]["ImageInput"] | null | undefined;
			idempotencyKey?: string | null | undefined;
			sectionId?: string | null | undefined;
		};
		UpdatePinInput: {
			interests?: readonly (string)[] | null | undefined;
			pinId: string;
			title?: string | null | undefined;
			details?: string | null | undefined;
			link?: string | null | undefined;
			image?: Schema["inputs"]["ImageInput"] | null | undefined;
		};
		UserByInput: {
			id?: string | null | undefined;
			username?: string | null | undefined;
		};
		InterestByInput: {
			id?: string | null | undefined;
			slug?: string | null | undefined;
		};
		ReportInput: {
			subjectId: string;
			reason: "SPAM" | "ADULT_CONTENT" | "HATE" | "HARASSMENT" | "COPYRIGHT" | "OTHER";
			text?: string | null | undefined;
		};
		CreateUserInput: {
			username: string;
			name?: string | null | undefined;
			email?: string | null | undefined;
			bio?: string | null | undefined;
			website?: string | null | undefined;
			avatar?: Schema["inputs"]["ImageInput"] | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateUserInput: {
			username?: string | null | undefined;
			name?: string | null | undefined;
			email?: string | null | undefined;
			bio?: string | null | undefined;
			website?: string | null | undefined;
			avatar?: Schema["inputs"]["ImageInput"] | null | undefined;
		};
		DeactivateUserInput: {
			userId: string;
		};
		CreateBoardInput: {
			name: string;
			description?: string | null | undefined;
			cover?: Schema["inputs"]["ImageInput"] | null | undefined;
			secret?: boolean | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateBoardInput: {
			boardId: string;
			name?: string | null | undefined;
			description?: string | null | undefined;
			cover?: Schema["inputs"]["ImageInput"] | null | undefined;
			secret?: boolean | null | undefined;
		};
		DeleteBoardInput: {
			boardId: string;
		};
		AddCollaboratorInput: {
			boardId: string;
			userId: string;
		};
		RemoveCollaboratorInput: {
			boardId: string;
			userId: string;
		};
		AddCommentInput: {
			pinId: string;
			text: string;
			idempotencyKey?: string | null | undefined;
		};
		DeleteCommentInput: {
			commentId: string;
		};
		DeletePinInput: {
			pinId: string;
		};
		CreateSectionInput: {
			boardId: string;
			name: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateSectionInput: {
			sectionId: string;
			name?: string | null | undefined;
		};
		DeleteSectionInput: {
			sectionId: string;
		};
		MoveSectionInput: {
			sectionId: string;
			beforeSectionId?: string | null | undefined;
			afterSectionId?: string | null | undefined;
		};
		MoveBoardInput: {
			boardId: string;
			beforeBoardId?: string | null | undefined;
			afterBoardId?: string | null | undefined;
		};
		LikePinInput: {
			pinId: string;
		};
		UnlikePinInput: {
			pinId: string;
		};
		FollowUserInput: {
			userId: string;
		};
		UnfollowUserInput: {
			userId: string;
		};
		FollowBoardInput: {
			boardId: string;
		};
		UnfollowBoardInput: {
			boardId: string;
		};
		FollowInterestInput: {
			interestId: string;
		};
		UnfollowInterestInput: {
			interestId: string;
		};
		BlockUserInput: {
			userId: string;
		};
		UnblockUserInput: {
			userId: string;
		};
	};
	/** Mutations, and their inputs. */
	mutations: {
		createBoard: "CreateBoardInput";
		updateBoard: "UpdateBoardInput";
		updatePin: "UpdatePinInput";
		likePin: "LikePinInput";
		unlikePin: "UnlikePinInput";
		followUser: "FollowUserInput";
		unfollowUser: "UnfollowUserInput";
		followBoard: "FollowBoardInput";
		unfollowBoard: "UnfollowBoardInput";
		followInterest: "FollowInterestInput";
		unfollowInterest: "UnfollowInterestInput";
		unblockUser: "UnblockUserInput";
		moveBoard: "MoveBoardInput";
		deleteBoard: "DeleteBoardInput";
		addCollaborator: "AddCollaboratorInput";
		removeCollaborator: "RemoveCollaboratorInput";
		addComment: "AddCommentInput";
		updateComment: "UpdateCommentInput";
		deleteComment: "DeleteCommentInput";
		refreshHomeFeed: "RefreshHomeFeedInput";
		hideFromHomeFeed: "HideFromHomeFeedInput";
		createPin: "CreatePinInput";
		repin: "RepinInput";
		movePin: "MovePinInput";
		deletePin: "DeletePinInput";
		movePins: "MovePinsInput";
		deletePins: "DeletePinsInput";
		report: "ReportInput";
		createSection: "CreateSectionInput";
		updateSection: "UpdateSectionInput";
		moveSection: "MoveSectionInput";
		deleteSection: "DeleteSectionInput";
		createUser: "CreateUserInput";
		updateUser: "UpdateUserInput";
		blockUser: "BlockUserInput";
		deactivateUser: "DeactivateUserInput";
	};
	/** Mappings: from which type, to which. */
	mappings: {
		placePin: [from: "Board", to: "Pin"];
		"followBoard.inverse": [from: "Board", to: "User"];
		collaborate: [from: "Board", to: "User"];
		placeSection: [from: "Board", to: "Section"];
		"filePin.inverse": [from: "Interest", to: "Pin"];
		"followInterest.inverse": [from: "Interest", to: "User"];
		repin: [from: "Pin", to: "Pin"];
		"likePin.inverse": [from: "Pin", to: "User"];
		filePin: [from: "Pin", to: "Interest"];
		commentPin: [from: "Pin", to: "Comment"];
		listInterest: [from: null, to: "Interest"];
		prefixUser: [from: null, to: "User"];
		listReport: [from: null, to: "Report"];
		placeInSection: [from: "Section", to: "Pin"];
		ownBoard: [from: "User", to: "Board"];
		ownPin: [from: "User", to: "Pin"];
		likePin: [from: "User", to: "Pin"];
		followUser: [from: "User", to: "User"];
		"followUser.inverse": [from: "User", to: "User"];
		followBoard: [from: "User", to: "Board"];
		followInterest: [from: "User", to: "Interest"];
		blockUser: [from: "User", to: "User"];
		"collaborate.inverse": [from: "User", to: "Board"];
		showPin: [from: "User", to: "Pin"];
		"blockUser.inverse": [from: "User", to: "User"];
		savePin: [from: "User", to: "Pin"];
	};
	/** Lookups: the type that each finds. */
	lookups: {
		slug: "Interest";
		username: "User";
		email: "User";
		account: "User";
	};
	/** Fields that a resolver answers. */
	resolvers: {
		"Board.followerCount": true;
		"Board.pinCount": true;
		"Board.viewerCanDelete": true;
		"Board.viewerCanPin": true;
		"Board.viewerCanUpdate": true;
		"Board.viewerFollows": true;
		"Comment.viewerCanDelete": true;
		"Comment.viewerCanUpdate": true;
		"Interest.followerCount": true;
		"Interest.viewerFollows": true;
		"Mutation.addCollaborator": true;
		"Mutation.addComment": true;
		"Mutation.blockUser": true;
		"Mutation.createBoard": true;
		"Mutation.createPin": true;
		"Mutation.createSection": true;
		"Mutation.createUser": true;
		"Mutation.deactivateUser": true;
		"Mutation.deleteBoard": true;
		"Mutation.deleteComment": true;
		"Mutation.deletePin": true;
		"Mutation.deletePins": true;
		"Mutation.deleteSection": true;
		"Mutation.followBoard": true;
		"Mutation.followInterest": true;
		"Mutation.followUser": true;
		"Mutation.hideFromHomeFeed": true;
		"Mutation.likePin": true;
		"Mutation.moveBoard": true;
		"Mutation.movePin": true;
		"Mutation.movePins": true;
		"Mutation.moveSection": true;
		"Mutation.refreshHomeFeed": true;
		"Mutation.removeCollaborator": true;
		"Mutation.repin": true;
		"Mutation.report": true;
		"Mutation.unblockUser": true;
		"Mutation.unfollowBoard": true;
		"Mutation.unfollowInterest": true;
		"Mutation.unfollowUser": true;
		"Mutation.unlikePin": true;
		"Mutation.updateBoard": true;
		"Mutation.updateComment": true;
		"Mutation.updatePin": true;
		"Mutation.updateSection": true;
		"Mutation.updateUser": true;
		"Pin.commentCount": true;
		"Pin.homeFeedReason": true;
		"Pin.likeCount": true;
		"Pin.related": true;
		"Pin.viewerCanDelete": true;
		"Pin.viewerCanUpdate": true;
		"Pin.viewerHasSaved": true;
		"Pin.viewerLikes": true;
		"Pin.viewerSaves": true;
		"Query.board": true;
		"Query.comment": true;
		"Query.interest": true;
		"Query.node": true;
		"Query.nodes": true;
		"Query.pin": true;
		"Query.popularInterests": true;
		"Query.user": true;
		"Query.users": true;
		"Query.viewer": true;
		"Section.pinCount": true;
		"Section.viewerCanDelete": true;
		"Section.viewerCanUpdate": true;
		"User.boardCount": true;
		"User.email": true;
		"User.followerCount": true;
		"User.followingCount": true;
		"User.followsViewer": true;
		"User.homeFeedWaiting": true;
		"User.isViewer": true;
		"User.pinCount": true;
		"User.viewerFollows": true;
	};
}
