//! The tests of the whole program, in one executable: tests by name, and cases that are found when it starts (a case for each
//! fixture, each program and each random program whose turn it is). All of them run side by side.
//!
//! `cargo test -p branchwise-cli --test it -- array_` runs those whose names contain the text.

mod across;
mod architecture;
mod attack;
mod bad_input;
mod campaign;
mod command_line;
mod compiler;
mod completeness;
mod coverage_tools;
mod cplusplus;
mod criteria;
mod criteria_behind;
mod criteria_of_data;
mod dependence;
mod differential;
mod emitted;
mod findings;
mod fixtures;
mod float_equalities;
mod induction;
mod kept;
mod limits;
mod paths;
mod programs;
mod projects;
mod results;
mod sandbox;
mod support;
mod trees;
mod undefined;
mod united;
mod world;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::{case, facts, golden, random_inputs, share};

/// Lists tests by module; one that is missing here is unused code, which the compiler reports.
macro_rules! tests {
    ($($module:ident { $($test:ident)* })*) => {
        vec![$($(case::case(concat!(stringify!($module), "::", stringify!($test)), || {
            $module::$test();
            Ok(())
        })),*),*]
    };
}

fn named_tests() -> Vec<Trial> {
    tests! {
        across {
            tables_1_and_2
            figure_3
            the_decision_graph_of_node_7
            drawings_have_all_of_it
            what_is_missing_is_said
        }
        architecture {
            crates_depend_on_each_other_only_as_designed
            clang_solver_and_argument_libraries_have_one_owner
            only_confinement_and_solver_start_processes
            only_report_and_cli_print
            only_the_module_smt_names_the_solver
        }
        attack {
            numbers_that_the_program_names_are_tried
            calls_before_the_tested_one_are_tried
            stubs_and_allocations_that_fail_are_tried
            behind_undefined_behaviour_nothing_counts
            preconditions_hold_in_every_run
            the_evidence_says_how_many_runs_it_survived
        }
        bad_input {
            a_name_that_several_overloads_have
            an_instance_of_no_template
            code_that_does_not_compile
            a_missing_header
            an_empty_file
            devices_and_pipes_in_the_place_of_files
            a_mistyped_function
            one_file_of_two_does_not_compile
            a_function_that_loops_for_ever
            recursion_without_end
            inline_assembly_and_functions_that_nobody_defines
            a_requirement_that_is_missed
            an_interrupt_keeps_what_was_found
            errors_of_the_configuration_point_into_it
            preconditions_that_cannot_be_used_stop_only_their_function
            the_configuration_limits_inputs_and_chooses_functions
            declared_results_of_stubs_and_names_of_other_files
            settings_of_functions_count_unless_the_command_line_says_otherwise
            a_suite_is_replayed_with_its_configuration
        }
        command_line {
            help
            help_of_generate
            short_help_of_generate
            help_of_map
            help_of_replay
            help_of_explain
            no_file
            an_option_that_is_not_there
            a_percentage_that_is_none
            a_file_that_is_not_there
            a_folder_instead_of_a_file
            a_suite_that_is_not_there
            a_goal_is_explained_from_a_stored_report
        }
        compiler {
            one_file_that_crashes_the_compiler_ends_alone
            files_without_end_are_named
            too_much_memory_and_time_are_named
            flags_that_load_code_are_refused
            flags_that_write_are_left_out
            a_stored_suite_is_no_more_trusted
            a_compiler_that_was_taken_over_reaches_nothing
            links_that_a_compiler_leaves_are_not_followed
            files_with_flags_are_refused
            a_line_marker_may_name_a_device
        }
        completeness {
            criteria_are_complete_or_name_what_is_open
            the_terminal_says_whether_a_criterion_is_complete
        }
        cplusplus {
            the_class_hierarchy_is_shown
            a_verdict_says_for_which_view_it_speaks
            what_ends_a_program_of_cpp_is_a_finding_of_its_kind
            what_an_exception_puts_out_of_reach_is_a_finding
            functions_without_markers_are_named
            defaulted_comparisons_have_no_goals
            statements_behind_what_throws_are_not_covered_and_those_of_handlers_are
            pairs_of_evaluations_are_seen_around_operators
        }
        criteria {
            a_decision_is_its_whole_condition
            several_criteria_are_treated_together
            statements_and_calls_run_only_where_the_log_shows_it
            what_lies_behind_a_certain_fault_is_not_called_infeasible
            a_function_that_runs_without_a_trace_is_unknown
            a_loop_is_left_after_no_iteration_one_and_more
            the_document_s_example_has_the_document_s_paths
            abstract_nodes_are_drawn_as_they_contain_each_other
            strategies_cost_no_more_than_the_document_s
            only_the_longest_of_comparable_paths_are_goals
            paths_without_end_are_complete_within_a_bound
            a_condition_has_an_effect_where_two_evaluations_show_it
            a_statement_behind_what_no_execution_takes_is_infeasible
            an_unknown_criterion_is_an_error_that_lists_the_known_ones
            stronger_criteria_cover_what_weaker_ones_ask
            the_first_path_is_that_of_the_seed_test
            a_million_expanded_paths_are_few_abstract_ones
            twenty_conditionals_in_a_row_need_a_handful_of_tests
            a_small_suite_is_the_smallest
            the_slowest_of_the_longest_paths_is_measured
            only_longest_paths_are_measured
        }
        criteria_behind {
            statements_behind_a_checksum_are_reached
            pairs_of_tests_behind_a_checksum_are_found
            methods_are_followed_behind_the_making_of_their_objects
            a_constructor_is_covered_only_where_something_is_constructed
        }
        criteria_of_data {
            a_comparison_has_equal_operands_and_neighbours
            a_label_of_the_user_is_a_goal
            boundaries_that_are_infeasible_never_happen
            a_definition_reaches_the_uses_that_it_can_reach
        }
        dependence {
            the_document_s_example_takes_strictly_less
            verdicts_are_those_of_exhaustive_search
            nothing_is_asked_when_nothing_is_open
            criteria_on_whole_paths_explore_all
            loops_without_an_end_leave_time_for_the_rest
            fixtures_have_the_verdicts_of_exhaustive_search
        }
        differential {
            the_same_seed_gives_the_same_program
        }
        findings {
            each_kind_is_found_with_an_input_and_says_what_confirms_it
            what_no_branch_tells_apart_is_looked_for
            what_is_guarded_is_no_finding_and_few_conditions_are_asked_for
            the_number_of_conditions_asked_for_is_bounded
            tests_return_where_there_are_inputs_that_do
            tests_have_arrays_that_are_long_enough_where_some_are
        }
        fixtures {
            wrong_missing_and_superfluous_answers_are_reported
            tests_of_cpp_read_as_people_write_them
            a_test_that_returns_is_preferred
            the_aim_changes_no_verdict
        }
        float_equalities {
            what_few_floats_satisfy_is_found
            what_no_float_satisfies_is_proved
        }
        induction {
            what_is_built_passes_and_simplifying_preserves_the_value
            a_proof_against_what_was_seen_is_none
            nothing_is_excluded_that_a_change_makes_possible
            what_a_change_leaves_true_is_still_proved
        }
        kept {
            killed_at_any_moment_and_resumed_it_is_as_if_nothing_had_been
            results_of_every_kind_come_back_from_the_journal
            what_was_found_under_other_conditions_is_not_used
            two_runs_on_one_folder_do_not_mix
            a_folder_that_cannot_be_written_is_named_before_the_search
            nothing_is_written_through_links_in_the_folder
            a_run_that_fails_leaves_no_folder
            one_signal_ends_the_search_and_a_second_ends_sooner
            a_lesser_result_goes_beside_a_fuller_one
            an_interrupted_result_does_not_replace_a_fuller_one
            a_full_disk_loses_nothing
            temporary_folders_without_an_owner_go_and_nothing_else
        }
        limits {
            an_input_followed_beyond_the_bounds_may_be_varied_where_it_does_not_return
            constructor_functions_are_called_however_they_are_listed
            a_constructor_function_that_asks_for_the_arguments_of_the_program_is_not_supported_by_name
            arrays_may_get_their_length_late_or_never
            overloaded_functions_in_c_are_named_and_the_others_tested
            goals_whose_inputs_were_not_run_for_lack_of_time_are_unknown_and_say_so
        }
        paths {
            a_path_through_calls_and_arrays_gets_a_test_within_the_domains
            a_path_that_no_input_takes_names_its_shortest_prefix
            what_was_refuted_can_be_read
            a_path_can_be_copied_from_a_report
            calls_and_preconditions_before_the_unit_are_no_part_of_its_path
            statements_and_outcomes_of_callees_are_goals_by_their_place
            what_is_no_goal_is_said
            decision_graphs_change_the_order_and_no_verdict
            an_unknown_outcome_names_the_condition_that_was_not_decided
            an_unknown_outcome_names_where_the_budget_ended
            numbers_that_are_read_are_in_their_domains
            a_stub_with_one_bound_has_all_values_beyond_it
            registers_hold_what_is_declared
        }
        projects {
            the_number_of_jobs_does_not_show_in_the_result
            a_project_is_read_from_its_compile_commands
            compile_commands_that_cannot_be_used
            the_memory_limit_ends_a_function_and_keeps_what_was_found
            what_single_paths_never_end_with_is_decided_by_all_ways_at_once
            the_time_limit_holds_within_one_path
            files_given_together_are_linked
            files_of_cpp_given_together_are_linked
        }
        results {
            what_is_printed_is_what_the_files_hold
            timings_and_other_criteria_are_described_too
            the_run_says_how_results_were_made
            functions_of_one_name_have_files_of_their_own
            explain_reads_only_the_functions_it_needs
            a_goal_is_explained_by_its_text
            indexes_that_are_none_are_named
            a_report_of_an_earlier_version_counts_as_a_result
            only_files_that_the_earlier_index_names_are_removed
        }
        sandbox {
            programs_of_cpp_are_held_back
            constructors_and_handlers_at_the_end_are_held_back
            a_summary_speaks_of_confinement_only_where_it_is_off
            doctor_has_a_line_for_each_layer
        }
        trees {
            figure_6
            ways_are_cut_where_they_cannot_arrive
            what_no_input_decides_is_no_repetition
            calls_that_have_returned_do_not_count_and_open_ones_do
            linear_and_smt_say_the_same_of_a_contradiction
            a_tree_that_explodes_is_cut
            nodes_are_statements_or_conditions
            the_tree_of_an_outcome_is_drawn
        }
        undefined {
            a_goal_says_through_what_it_is_covered
            reproducers_stand_beside_the_suite
            without_such_outcomes_there_are_no_reproducers
            reproducers_of_an_earlier_run_go
            paths_and_pairs_are_looked_for_without
        }
        united {
            pieces_are_as_good_as_the_whole
            what_was_not_answered_is_asked_again
        }
        world {
            no_function_of_cpp_touches_a_canary
            values_of_the_machine_are_never_expected
            files_that_are_linked_touch_no_canary
            instructions_that_call_the_system_touch_no_canary
            an_allowed_call_runs_and_others_do_not
            no_function_of_c_touches_a_canary
        }
    }
}

fn main() -> ExitCode {
    use_cache();
    let mut arguments = Arguments::from_args();
    // Some cases wait for limits: meanwhile another one runs.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads = arguments.test_threads.or(Some(cores + 1));
    let mut trials = fixtures::cases();
    trials.extend(programs::cases());
    if !golden::is_alone() {
        trials.extend(coverage_tools::cases());
        trials.extend(differential::cases());
        trials.extend(campaign::cases());
        trials.extend(named_tests());
    }
    if !arguments.list {
        println!("turn {} of the shares of slow campaigns; BRANCHWISE_TURN={0} repeats it", share::turn());
    }
    let everything = !golden::is_alone()
        && arguments.filter.is_none()
        && arguments.skip.is_empty()
        && !arguments.list
        && !arguments.exact;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.num_passed > 100 {
        println!("the slowest cases:\n{}", case::slowest().join("\n"));
    }
    if let Some((facts, texts)) = golden::finish() {
        println!("golden: facts {facts}, texts {texts}");
    }
    let wrong = if everything { of_all() } else { Vec::new() };
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    if conclusion.has_failed() || !wrong.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns what is wrong with comparisons that only say something together.
fn of_all() -> Vec<String> {
    let mut checks = vec![facts::of_all(), random_inputs::of_all()];
    if share::soak().is_some() {
        checks.extend([coverage_tools::of_all(), differential::of_all(), campaign::of_all()]);
    }
    checks.into_iter().filter_map(Result::err).collect()
}

/// Compiles no text twice, in this run or the next.
fn use_cache() {
    if std::env::var_os(branchwise_tools::VARIABLE).is_none() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var(branchwise_tools::VARIABLE, folder) };
    }
}
