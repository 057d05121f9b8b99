//! What every store must do, told once and run against each of them.

mod amending;
mod deciding;
mod governing;
mod idempotency;
mod leasing;
mod ledger;
mod lists;
mod ordering;
mod queue;
mod races;
mod retaining;
mod revoking;
mod submitting;

/// Runs scenarios, which are functions of the ground they are played on, as tests.
macro_rules! scenarios {
    ($($module:ident { $($name:ident),* $(,)? })*) => {
        mod on_sqlite {
            $(mod $module {
                use crate::world::Folder;
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::super::$module::$name::<Folder>().await;
                })*
            })*
        }
    };
}

scenarios! {
    submitting {
        what_is_submitted_is_read_back,
        b6_a_refusal_writes_nothing,
        b6_a_recorded_refusal_writes_one_entry_and_is_still_a_refusal,
        the_agents_words_must_be_the_ones_the_proposal_names,
        c16_what_a_password_is_compared_with_is_kept_beside_the_ledger_and_the_newest_counts,
        a_name_or_a_token_is_given_once,
        a_run_needs_a_project_that_exists,
        what_does_not_fit_into_an_entry_is_refused_and_nothing_is_written,
        two_approvals_race_and_exactly_one_is_the_last,
        an_approval_and_a_withdrawal_race_and_one_wins,
        a_revoked_identity_is_no_longer_found_by_its_token,
        c16_what_a_worker_declared_is_kept_and_the_same_is_not_written_twice,
        b1_who_is_revoked_after_the_door_changes_nothing_any_more,
        scopes_are_versioned_by_name,
    }
    revoking {
        b4_revocation_voids_approvals_in_one_transaction,
        b4_revocation_withdraws_actions_of_an_agent,
        c12_clock_of_a_run_stands_while_it_waits,
    }
    amending {
        b4_an_amendment_is_one_transaction_and_both_actions_are_read_back,
        b4_an_amendment_that_is_refused_leaves_both_as_they_were,
        b4_two_amendments_race_and_one_wins,
        b4_an_amendment_asked_for_twice_is_one_with_one_answer,
    }
    ordering {
        b4_a_thousand_at_once_against_an_order_for_ten_are_ten,
        b4_an_order_and_its_uses_survive_a_restart,
        b4_whoever_is_revoked_says_yes_to_nothing_any_more_not_even_beforehand,
        b4_what_was_approved_by_an_order_that_is_taken_back_stands_in_nobodys_way,
        b4_runs_with_orders_are_found_without_the_others,
    }
    idempotency {
        the_same_key_and_request_have_one_effect_and_one_answer,
        a_replayed_answer_is_the_first_one_whatever_happened_since,
        many_at_once_with_one_key_have_one_effect,
        different_requests_at_once_with_one_key_have_one_effect,
        b1_revoked_identity_gets_no_replay,
        a_key_used_for_another_request_is_refused,
        keys_of_two_actors_do_not_meet,
        a_refusal_is_not_remembered,
        a_replay_answers_with_the_ids_of_the_first_request,
        a_lease_asked_for_twice_is_one_lease,
        a_key_is_remembered_across_a_restart,
        what_was_answered_under_a_key_can_be_asked_for_without_an_effect,
    }
    deciding {
        c17_how_questions_ended_is_read_back,
        c17_a_mark_on_a_file_is_of_one_person_one_project_one_path_and_these_bytes,
        c17_marks_are_bounded_for_each_person_and_forgotten_after_their_time,
        b4_a_thousand_at_once_against_a_bound_of_twenty_leave_twenty,
        b4_the_family_of_a_run_is_counted_together,
    }
    governing {
        c12_what_is_held_and_spent_changes_nothing_else_and_everything_else_moves_the_ledger,
        c12_a_thousand_at_once_reserve_from_a_budget_for_ten_and_ten_get_it,
        c12_a_lease_that_a_budget_does_not_cover_pauses_its_run_and_blocks_nobody_else,
        c12_a_run_that_holds_too_much_at_once_blocks_nobody_else,
        c12_a_cancelled_run_ends_what_it_had_made_in_one_transaction,
        c11_a_hosted_run_is_found_by_its_host_and_its_actions_by_nobody_else,
        d11_the_switch_survives_a_restart,
        c9_runs_that_are_due_are_found_and_others_are_not,
    }
    races {
        c8_concurrent_decisions_have_one_winner,
        b5_result_and_lapse_of_its_lease_have_one_winner,
    }
    leasing {
        c14_no_action_is_leased_twice_by_sixteen_workers,
        agents_are_served_in_turn,
        runs_of_one_agent_are_served_in_turn,
        refused_actions_of_some_runs_do_not_end_the_search,
        agent_with_nothing_ready_does_not_lose_others_their_turn,
        approved_action_outlives_busy_workers_for_a_day,
        approved_action_expires_where_a_worker_was_idle,
        approved_action_expires_where_no_worker_works,
        other_policy_voids_an_approval_that_waits_for_workers,
        of_those_that_are_ready_the_one_whose_time_runs_out_first_is_leased_first,
        a_worker_sees_only_the_projects_within_its_reach,
        what_a_paused_run_an_old_policy_or_a_deadline_holds_back_is_not_leased_and_blocks_nothing,
        c14_what_ran_out_of_time_is_found_and_ended,
        c14_a_lost_worker_has_lost_its_say,
    }
    ledger {
        entries_are_numbered_without_gaps_in_the_order_of_commit,
        watchers_are_told_of_every_commit,
        proofs_and_heads_convince_a_stranger,
        an_export_convinces_a_stranger,
        a_restart_resumes_the_same_tree,
        r32_the_clock_of_the_ledger_never_goes_backwards,
        the_projections_are_what_the_ledger_says,
        a_head_is_signed_once_for_each_size,
        b12_a_cursor_is_kept_and_never_goes_back,
        b12_what_is_owed_is_kept_with_the_cursor,
    }
    retaining {
        c14_contents_stay_until_every_run_that_names_them_is_over_and_old,
        c14_what_is_named_after_the_look_is_not_removed,
        c14_two_who_remove_at_once_record_every_removal_once,
        c14_after_a_crash_between_the_entry_and_the_bytes_the_bytes_go,
        c14_bytes_that_another_project_keeps_stay_on_the_disk,
        c14_what_is_preserved_stays_however_old_it_is,
        c14_a_clock_that_goes_back_or_a_halt_removes_nothing,
        c14_only_an_administrator_removes_and_whoever_else_tries_is_recorded,
        c14_what_is_gone_without_an_entry_is_found,
    }
    queue {
        b4_a_tier_is_found_behind_any_number_of_riskier_ones,
        b4_the_whole_queue_is_reached_page_by_page_there_and_back,
        b4_what_asks_the_same_is_one_row_wherever_in_the_queue_it_stands,
        b4_where_two_people_are_asked_nothing_is_folded,
        b4_what_is_not_somebodys_to_decide_hides_nothing_that_is,
        b4_what_somebody_said_yes_to_waits_for_others,
        b4_what_is_for_somebody_comes_to_them_and_what_was_set_aside_is_back_at_its_time,
        c14_what_was_interrupted_waits_for_somebody_until_they_say_what_becomes_of_it,
        c16_entries_are_found_without_heartbeats_and_these_are_counted,
    }
    lists {
        the_queue_shows_the_riskiest_first_and_only_open_runs,
        actions_are_paged_in_both_directions,
        runs_are_listed_newest_first,
        entries_are_found_by_what_they_are_about,
        counts_add_up,
        sealed_bytes_and_words_are_kept_beside_the_ledger,
        nobody_sees_beyond_their_reach,
    }
}
